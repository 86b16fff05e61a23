#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the system calls that glibc makes with those of the table.

usage: check-trace.py TRACE

TRACE is the output of `strace -f -e raw=all -o TRACE libc-calls trace DIR`. Between
two markers it contains the call of each function by glibc, and then by the table.
Prints each difference that is not listed below, and fails if there is one.
"""

import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "scripts", "docs"))
import syscalls_table  # noqa: E402

MARK_BEGIN, MARK_END = 0x434F5301, 0x434F5302

# Calls for which the table differs from a glibc since 2.36, and why the results are the same.
SAME = {
    "fstat": "2.36 asks newfstatat with an empty name, 2.39 asks fstat again",
    "fstat64": "as fstat",
    "getrandom": "2.41 asks the vDSO, which needs memory the first time",
}
# The vDSO implements them, so strace does not see them.
VDSO = {"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu"}

LINE = re.compile(r"^(\d+)\s+(\w+)\((.*?)\)?\s+(?:=|<unfinished)")


def pairs(path):
    """Returns {function index: {1 by libc or 0 by number: [(name, args)...]}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    inside = {}
    with open(path, encoding="ascii", errors="replace") as trace:
        for line in trace:
            match = LINE.match(line)
            if not match:
                continue
            pid, name, text = match.groups()
            args = [int(arg, 0) for arg in text.split(", ") if arg]
            if name == "prctl" and args[0] == MARK_BEGIN:
                inside[pid] = found[args[1]][args[2]]
            elif name == "prctl" and args[0] == MARK_END:
                inside.pop(pid, None)
            elif pid in inside:
                inside[pid].append((name, args))
    return found


def text_of(made):
    return "; ".join(f"{name}({', '.join(hex(a) for a in args)})" for name, args in made) \
        or "nothing"


def normal(made, letters):
    """The part of the registers that the kernel reads."""
    return [(name, [arg & 0xFFFFFFFF if letter in "di" else arg
                    for arg, letter in zip(args, letters)])
            for name, args in made]


def main():
    calls, functions = syscalls_table.read()
    letters = {call.name: call.args for call in calls}
    found = pairs(sys.argv[1])
    different = compared = 0
    for index, function in enumerate(functions):
        libc, raw = found[index][1], found[index][0]
        if len(raw) != 1:
            print(f"{function.name}: the trace has {text_of(raw)} by number")
            different += 1
            continue
        if function.name in VDSO and not libc:
            continue
        compared += 1
        args = letters[function.call]
        if normal(libc, args) != normal(raw, args) and function.name not in SAME:
            print(f"{function.name}: glibc makes {text_of(libc)}, the table {text_of(raw)}")
            different += 1
    print(f"{compared} of {len(functions)} functions compared, {different} differences")
    return different != 0 or not compared


sys.exit(main())
