# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Completion of the command cosy for bash.

_cosy() {
	local word=${COMP_WORDS[COMP_CWORD]} i
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "run compare profile top stat uninstall --help --version" -- "$word")
		return
	fi
	case ${COMP_WORDS[1]} in
	run | profile | compare)
		# The first word that is not an option begins a command of its own.
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [[ ${COMP_WORDS[i]} == -- ]]; then
				i=$((i + 1))
				break
			fi
			[[ ${COMP_WORDS[i]} == -* ]] || break
		done
		if ((i < COMP_CWORD)) || [[ $word != -* ]]; then
			_command_offset "$i"
		elif [[ ${COMP_WORDS[1]} == run ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--print -- --help" -- "$word")
		elif [[ ${COMP_WORDS[1]} == compare ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--runs --prepare --files --input --output --json --suite --directory -- --help --version" -- "$word")
		fi
		;;
	top)
		mapfile -t COMPREPLY < <(compgen -W "-b -d -n -t --help --version" -- "$word")
		;;
	stat)
		mapfile -t COMPREPLY < <(compgen -W "-b -c -d -n -p -t --help --version" -- "$word")
		;;
	esac
}
complete -F _cosy cosy
