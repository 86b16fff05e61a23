# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-suite-table.py COSY-COMPARE ROOT: check that the suite has the programs of README.md's first
table of programs, and that bench/unmodified/programs executes the same commands."""

import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from compare_module import load

suite, root = load(sys.argv[1]).SUITE, sys.argv[2]
with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
    table = file.read().split("| program | native | `cosy run` |")[1].split("\n\n")[0]
named = re.findall(r"^\| `([^`]*)` \|", table, re.MULTILINE)
assert named == list(suite), f"README.md: {named}, the suite: {list(suite)}"
# Documents and --help give their number.
assert len(suite) == 9, len(suite)

with open(os.path.join(root, "bench/unmodified/programs"), encoding="utf-8") as file:
    text = file.read().replace("\\\n", " ")
# Scripts, in quotation marks, can have several lines; the suite has none.
measured = [shlex.split(line) for line in re.findall(r"^unmodified [^'\n]*$", text, re.MULTILINE)]
for name, (command, prepare, _files) in suite.items():
    rows = [row for row in measured if row[-len(command):] == command]
    assert rows, f"bench/unmodified/programs does not measure {command}"
    assert prepare is None or prepare in rows[0], f"{name}: {prepare} is not in {rows[0]}"
