# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads compound-ir/syscalls.def, for the scripts that check or document it."""

import collections
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(TOP, "compound-ir", "syscalls.def")

# nested: bool; comment: the reason for leaving, or ""; line: in the table.
Call = collections.namedtuple("Call", "nr name args nested comment line")
# map: list of "$n" and numbers; condition: (argument, relation, value) or None.
Function = collections.namedtuple("Function", "name call map condition line")

CALL = re.compile(
    r'COSY_SYSCALL\((\d+), (\w+), "([dinosrwx]*)", (NESTED|LEAVE)\)'
    r"(?:\s*/\* (.*) \*/)?$")
FUNCTION = re.compile(
    r'COSY_LIBC(_IF)?\((\w+), (\w+), "([-$\d,]*)"'
    r"(?:, (\d), (EQ|NE|U[LG][TE]|S[LG][TE]), (-?\d+))?\)$")


def read(path=TABLE):
    """Returns the calls and the functions, in the order of the table."""
    calls, functions = [], []
    with open(path, encoding="ascii") as table:
        for number, line in enumerate(table, 1):
            line = line.rstrip("\n")
            if not line.startswith("COSY_") or line.startswith(
                    ("COSY_LIBC_MORE(", "COSY_QUERY(", "COSY_PARKS(", "COSY_NOWAIT(",
                     "COSY_RING_CALL(", "COSY_SHARES(", "COSY_SHARES_PAIR(")):
                continue
            match = CALL.match(line)
            if match:
                nr, name, args, nested, comment = match.groups()
                calls.append(Call(int(nr), name, args, nested == "NESTED",
                                  comment or "", number))
                continue
            match = FUNCTION.match(line)
            if not match or bool(match[1]) != bool(match[6]):
                raise SystemExit(f"{path}:{number}: not as the first lines of the file say: {line}")
            condition = (int(match[5]), match[6], int(match[7])) if match[1] else None
            functions.append(Function(match[2], match[3],
                                      match[4].split(",") if match[4] else [],
                                      condition, number))
    return calls, functions
