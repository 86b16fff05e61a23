#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit 18.1.8 and 23.1.5, and a limit of time for each test that a suite's lit.cfg sets: no single spelling works in both.
# `config.maxIndividualTestTime` is accepted by both, but 18 does not read it: a test of 4 seconds passes with a limit of
# one second, and nothing is said. `lit_config.maxIndividualTestTime` is the limit in 18; in 23 it is an AttributeError,
# and no test of the suite runs. A lit.cfg for both sets the first, and tries the second.
# The packages are of PyPI; 18 needs psutil for limits.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

mkdir suite
echo '# RUN: true' >suite/short.test
echo '# RUN: sleep 4' >suite/long.test

# results VERSION OBJECT - run the suite with the limit set in OBJECT, and print what becomes of its tests.
results() {
	local lib=$folder/lit-$1
	if [[ ! -d $lib ]]; then
		pip install -q --root-user-action=ignore --target "$lib" "lit==$1" psutil==6.1.0 >&2
	fi
	cat >suite/lit.cfg <<-END
		import lit.formats
		config.name = "suite"
		config.test_format = lit.formats.ShTest(False)
		config.suffixes = [".test"]
		$2.maxIndividualTestTime = 1
	END
	{ PYTHONPATH=$lib python3 -c 'from lit.main import main; main()' suite 2>&1 || true; } |
		sed -nE 's/^ +(Passed|Timed Out) *: *([0-9]+) .*/\1 \2/p; s/^(AttributeError): .*/\1/p' | paste -sd ,
}

expect "18.1.8, config" "Passed 2" "$(results 18.1.8 config)"
expect "18.1.8, lit_config" "Passed 1,Timed Out 1" "$(results 18.1.8 lit_config)"
expect "23.1.5, config" "Passed 1,Timed Out 1" "$(results 23.1.5 config)"
expect "23.1.5, lit_config" "AttributeError" "$(results 23.1.5 lit_config)"
