#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit 18.1.8 with its internal shell, in which a test's `cat` is not the system's but lit's: without a file, it does not read
# its standard input, and prints nothing, with success. So `program | cat | not grep error` passes whatever the program
# prints. The same tests fail when lit runs them by the system's shell. In 23.1.5 `cat` reads its input (a pull request
# of LLVM of 2025, 158447), but `cat -`, which names the standard input, fails. Nothing was found
# about it in lit's documentation. The packages are of PyPI.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

mkdir suite
echo 'RUN: echo error | cat | not grep error' >suite/cat-pipe.test
echo 'RUN: echo error >%t' >suite/cat-input.test
echo 'RUN: cat <%t | not grep error' >>suite/cat-input.test
echo 'RUN: echo word | cat - | grep word' >suite/cat-hyphen.test
printf '#!/bin/sh\n! "$@"\n' >not
chmod +x not

# passed VERSION EXTERNAL - run the suite by lit's shell (False) or the system's (True), and print which tests pass.
passed() {
	local lib=$folder/lit-$1
	if [[ ! -d $lib ]]; then
		pip install -q --root-user-action=ignore --target "$lib" "lit==$1" >&2
	fi
	cat >suite/lit.cfg <<-END
		import lit.formats
		config.name = "suite"
		config.test_format = lit.formats.ShTest($2)
		config.suffixes = [".test"]
		config.environment["PATH"] = "$folder:/usr/bin:/bin"
	END
	{ PYTHONPATH=$lib python3 -c 'from lit.main import main; main()' -v suite 2>&1 || true; } |
		sed -nE 's/^PASS: suite :: cat-([a-z]+)\.test .*/\1/p' | sort | paste -sd " "
}

expect "18.1.8, the system's shell" "hyphen" "$(passed 18.1.8 True)"
expect "18.1.8, lit's shell" "input pipe" "$(passed 18.1.8 False)"
expect "23.1.5, lit's shell" "" "$(passed 23.1.5 False)"
