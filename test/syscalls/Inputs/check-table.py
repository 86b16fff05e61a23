#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the system-call table against the headers of a kernel.

usage: check-table.py UNISTD_64_H [SYSCALLS_H]

UNISTD_64_H  <asm/unistd_64.h>: every number and name
SYSCALLS_H   include/linux/syscalls.h: the number of arguments and which of them
             are addresses

A table may contain more calls than an older kernel has. Prints one line per
mistake and what was compared. Fails if there was a mistake.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "scripts", "docs"))
import syscalls_table  # noqa: E402

# The kernel's function names that do not begin with sys_, and the names of the calls.
FUNCTION_OF = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat",
               "uname": "newuname", "umount2": "umount", "sendfile": "sendfile64"}
# Not declared there, or declared for every architecture except this one.
ARGUMENTS_OF = {"rt_sigreturn": [], "fork": [], "vfork": [], "arch_prctl": ["int option", "unsigned long arg2"],
                "iopl": ["unsigned int level"],
                "modify_ldt": ["int", "void *", "unsigned long"],
                "mmap": ["unsigned long"] * 6,
                "time": ["time_t *"]}
# Declared several times there; this is the one of x86-64.
CLONE = ["unsigned long", "unsigned long", "int *", "int *", "unsigned long"]

problems = 0


def problem(line, text):
    global problems
    problems += 1
    print(f"syscalls.def:{line}: {text}")


def numbers(path):
    """name -> number"""
    with open(path, encoding="ascii") as header:
        return {name: int(nr) for name, nr in
                re.findall(r"^#define __NR_(\w+)\s+(\d+)$", header.read(), re.M)
                if name != "syscalls"}


def prototypes(path):
    """name -> list of parameters"""
    with open(path, encoding="utf-8") as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
    result = {}
    for name, params in re.findall(r"\bsys_(\w+)\s*\(([^;]*?)\)\s*;", text):
        params = " ".join(params.split())
        result[name] = [] if params == "void" else params.split(", ")
    result.update(ARGUMENTS_OF)
    result["clone"] = CLONE
    return result


def check_numbers(calls, header):
    by_name = numbers(header)
    listed = {call.name: call for call in calls}
    for name, nr in sorted(by_name.items(), key=lambda item: item[1]):
        if name not in listed:
            problem(0, f"{name} ({nr}) is missing")
        elif listed[name].nr != nr:
            problem(listed[name].line, f"{name} is {nr}, not {listed[name].nr}")
    newest = max(by_name.values())
    for call in calls:
        # Numbers inside the range were assigned to calls later.
        if call.name not in by_name and call.nr <= newest and call.name != "uretprobe":
            problem(call.line, f"{header} has no call {call.name}")
    print(f"{len(by_name)} numbers compared")


def check_arguments(calls, header):
    known = prototypes(header)
    compared = 0
    for call in calls:
        if call.comment == "ENOSYS":
            continue
        params = known.get(FUNCTION_OF.get(call.name, call.name))
        if params is None:
            problem(call.line, f"{header} does not declare {call.name}")
            continue
        compared += 1
        if len(params) != len(call.args):
            problem(call.line, f"{call.name} has {len(params)} arguments, "
                    f"not {len(call.args)}: {', '.join(params)}")
            continue
        for letter, param in zip(call.args, params):
            address = "*" in param or "cap_user_" in param
            # A number can contain an address (ioctl's argument), and an address can be of memory
            # that is not accessed (shmat's).
            if address and letter not in "srwxo" or \
               not address and letter in "srw":
                problem(call.line, f"{call.name}: is '{param}' of kind '{letter}'?")
    print(f"{compared} prototypes compared")


def check_form(calls, functions):
    for before, call in zip(calls, calls[1:]):
        if call.nr <= before.nr:
            problem(call.line, f"{call.name} ({call.nr}) is behind {before.name} ({before.nr})")
    seen = {}
    for call in calls:
        if call.name in seen:
            problem(call.line, f"{call.name} is listed twice")
        seen[call.name] = call
        if call.nested == bool(call.comment):
            problem(call.line, f"{call.name}: exactly the calls that leave say why")
    names = set()
    for function in functions:
        if function.name in names:
            problem(function.line, f"{function.name} is listed twice")
        names.add(function.name)
        call = seen.get(function.call)
        if call is None:
            problem(function.line, f"{function.name}: no system call {function.call}")
            continue
        if not call.nested:
            problem(function.line, f"{function.name}: {function.call} leaves anyway")
        if len(function.map) != len(call.args):
            problem(function.line, f"{function.name} gives {function.call} {len(function.map)} "
                    f"arguments, not {len(call.args)}")
        used = sorted(int(arg[1:]) for arg in function.map if arg.startswith("$"))
        if function.condition:
            used = sorted(set(used + [function.condition[0]]))
        if used != list(range(len(used))):
            problem(function.line, f"{function.name} leaves out an argument or uses it twice")
        for arg in function.map:
            if not re.fullmatch(r"\$[0-5]|-?\d+", arg):
                problem(function.line, f"{function.name}: not an argument: {arg}")
    print(f"{len(calls)} calls, {len(functions)} functions")


def main():
    calls, functions = syscalls_table.read()
    check_form(calls, functions)
    check_numbers(calls, sys.argv[1])
    if len(sys.argv) > 2:
        check_arguments(calls, sys.argv[2])
    return 1 if problems else 0


sys.exit(main())
