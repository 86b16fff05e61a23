#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares debian/copyright with the licences that the files name in their first lines.

usage: copyright.py ROOT [FILE...]

FILEs are compared, or else all files of the checkout. Prints each difference, and fails if there is one.
"""

import fnmatch
import re
import subprocess
import sys

LICENCES = {
    "Apache-2.0 WITH LLVM-exception": "Apache-2.0-with-LLVM-exception",
    "GPL-2.0": "GPL-2",
    "GPL-2.0-only": "GPL-2",
    "GPL-2.0 OR Apache-2.0 WITH LLVM-exception": "GPL-2 or Apache-2.0-with-LLVM-exception",
}
SPDX = re.compile(r"SPDX-License-Identifier: ([-. \w]*\w)")


def stanzas(path):
    """Returns [(patterns, licence)...] of the paragraphs with files; the last one that matches counts."""
    found = []
    with open(path, encoding="utf-8") as copyright_file:
        for paragraph in copyright_file.read().split("\n\n"):
            files = re.search(r"^Files:((?:.*\n )*.*)", paragraph, re.M)
            licence = re.search(r"^License: (.*)", paragraph, re.M)
            if files:
                found.append((files.group(1).split(), licence.group(1)))
    return found


def main():
    root, files = sys.argv[1], sys.argv[2:]
    if not files:
        files = subprocess.run(["git", "-C", root, "ls-files"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.split()
    compared = different = 0
    paragraphs = stanzas(f"{root}/debian/copyright")
    for name in files:
        try:
            with open(f"{root}/{name}", encoding="utf-8") as source:
                lines = [next(source, "") for _ in range(5)]
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        named = SPDX.search("".join(lines))
        if not named:
            continue
        compared += 1
        said = [licence for patterns, licence in paragraphs
                if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)][-1]
        if said != LICENCES.get(named.group(1)):
            print(f"{name}: {named.group(1)}, but debian/copyright says {said}")
            different += 1
    print(f"{compared} files, {different} differences")
    return different != 0 or not compared


sys.exit(main())
