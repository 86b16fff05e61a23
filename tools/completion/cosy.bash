# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Completion of the command cosy for bash.

_cosy() {
	local word=${COMP_WORDS[COMP_CWORD]} i
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "run compare profile top stat uninstall --help --version" -- "$word")
		return
	fi
	case ${COMP_WORDS[1]} in
	run | profile | compare)
		# The first word that is neither an option nor its argument begins a command of its own.
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[1]},${COMP_WORDS[i]} in
			*,--)
				i=$((i + 1))
				break
				;;
			compare,-[npfiod] | compare,--runs | compare,--prepare | compare,--files | compare,--input | \
				compare,--directory | profile,-[po] | profile,--pid | profile,--html | *,--output | *,--json)
				# The last word is the argument.
				((++i < COMP_CWORD)) || return 0
				;;
			*,-*) ;;
			*) break ;;
			esac
		done
		if ((i < COMP_CWORD)) || [[ $word != -* ]]; then
			_command_offset "$i"
		elif [[ ${COMP_WORDS[1]} == run ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--print -- --help" -- "$word")
		elif [[ ${COMP_WORDS[1]} == compare ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--runs --prepare --files --input --output --json --suite --directory -- --help --version" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -W "--pid --all --output --json --html -- --help --version" -- "$word")
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
complete -o default -F _cosy cosy
