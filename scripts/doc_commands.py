#!/usr/bin/python3 -ISB
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the commands that documents show in their ```sh blocks, for test/docs/commands.test.

usage: scripts/doc_commands.py BUILD SCRATCH LIST DOCUMENT...

LIST says how each is run, one on a line:

    host COMMAND [=> REGEX]     on this machine
    vm COMMAND [=> REGEX]       in the VM of `./cosy check`
    test TEST COMMAND           by TEST, a file of test/
    skip COMMAND => REASON      not at all

The commands run in the order of LIST, in SCRATCH.  The first ```c block of the first document is
there as prog.c.  Each must succeed, and print what REGEX matches.
A command that LIST does not have is an error, as is one that no document has.
"""

import os
import re
import subprocess
import sys

def blocks(path, language):
    with open(path, encoding="utf-8") as file:
        return re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


def commands(path):
    """Return the commands of a document, without comments."""
    return [re.sub(r"(^|\s)#.*", "", line).strip() for block in blocks(path, "sh")
            for line in block.splitlines() if re.sub(r"(^|\s)#.*", "", line).strip()]


def parse(path):
    """Return how each command is run: command -> (mode, the rest of the line)."""
    entries = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line.startswith("#"):
                continue
            mode, text = line.split(None, 1)
            if mode == "test":
                test, command = text.split(None, 1)
                entries[command.strip()] = (mode, test)
            else:
                command, _, rest = text.partition(" => ")
                entries[command.strip()] = (mode, rest.strip())
    return entries


def run(build, scratch, mode, command):
    """Return: exit status, all that was printed."""
    path = f"{build}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    line = ["env", f"PATH={path}", "bash", "-c", command]
    if mode == "vm":
        line = [f"{build}/bin/cosy-vm-exec", "-T", "1200", "--", *line]
    done = subprocess.run(line, cwd=scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    build, scratch, listed, *documents = sys.argv[1:]
    tests = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "test")
    entries, wrong = parse(listed), []
    shown = {command: document for document in documents for command in commands(document)}
    for command, document in shown.items():
        if command not in entries:
            wrong.append(f"{document}: no test runs '{command}'\n  HINT: add it to {listed}")
    wrong += [f"{listed}: no document shows '{command}'" for command in entries
              if command not in shown]
    programs = blocks(documents[0], "c")
    if programs:
        with open(os.path.join(scratch, "prog.c"), "w", encoding="utf-8") as file:
            file.write(programs[0])
    for command, (mode, rest) in entries.items():
        if mode == "skip":
            print(f"skipped: {command} ({rest})")
            if not rest:
                wrong.append(f"{listed}: no reason to skip '{command}'")
        elif mode == "test":
            if not os.path.exists(os.path.join(tests, rest)):
                wrong.append(f"{listed}: there is no test {rest}")
        elif command in shown:
            status, output = run(build, scratch, mode, command)
            print(f"{mode}: {command}\n{output}", end="")
            if status:
                wrong.append(f"{shown[command]}: '{command}' fails (status {status})")
            elif not re.search(rest, output):
                wrong.append(f"{shown[command]}: '{command}' does not print '{rest}'")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
