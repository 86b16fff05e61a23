#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a linker's version script against the library that was linked with it.

usage: check-map.py MAP LIBRARY

Each node has exact names, sorted, and extends the node before it. The library exports each name
in its node, and nothing else. Prints a line for each mistake and the number of names.
"""

import re
import subprocess
import sys


def nodes(text):
    """Yields (name, exported names, local names, name of the node that it extends)."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    for name, body, extends in re.findall(r"(\w+)\s*{(.*?)}\s*(\w*)\s*;", text, flags=re.S):
        exported, _, local = body.partition("local:")
        names = [n.strip() for n in exported.replace("global:", "").split(";") if n.strip()]
        yield name, names, local.replace(";", "").split(), extends


def exports(library):
    """Returns (name, node) of each symbol that a library defines for others."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    found = set()
    for line in out.splitlines():
        kind, symbol = line.split()[-2:]
        name, _, node = symbol.replace("@@", "@").partition("@")
        # The nodes themselves are absolute symbols.
        if kind != "A":
            found.add((name, node))
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(nodes(file.read()))
    mistakes, before, listed = [], "", set()
    for name, names, local, extends in found:
        mistakes += [f"{name}: {n} is not an exact name" for n in names
                     if not re.fullmatch(r"\w+", n)]
        mistakes += [f"{name}: {b} is after {a}" for a, b in zip(names, names[1:]) if a >= b]
        if extends != before:
            mistakes.append(f"{name} extends {extends or 'nothing'}, not {before or 'nothing'}")
        if local != ([] if before else ["*"]):
            mistakes.append(f"{name}: only the first node has the local names *")
        listed |= {(n, name) for n in names}
        before = name
    exported = exports(sys.argv[2])
    mistakes += [f"{node}: {n} is listed, but not exported" for n, node in sorted(listed - exported)]
    mistakes += [f"{n}@{node} is exported, but not listed" for n, node in sorted(exported - listed)]
    print("\n".join(mistakes + [f"{len(listed)} names in {len(found)} nodes"]))
    sys.exit(bool(mistakes) or not listed)


main()
