#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the files and functions that documents name exist.

usage: check-paths.py DOCUMENT...      (from the root of the checkout)

These are paths and names of files in `...`, and the targets of links. A path is from the root, or the
end of a path from there. A name without a folder may be that of any file or folder; in the README of a
component, of one of the component. A function, `...()`, may be in any source.
"""

import os
import re
import subprocess
import sys

FILE = re.compile(r"[\w./-]+(?:/|\.(?:c|cpp|cir|def|h|map|md|py|S|sh|test|toml|txt))|(?:[\w./-]*/)?cosy[\w+-]*\.\d")
# A README of these folders names files of its own, and of compound-ir/, without their folder.
COMPONENTS = ("kernel/cosy", "clang-plugin", "runtime/src/async", "preload", "profile", "compound-ir")
# What is built, and files and functions of other projects.
OUTSIDE = {"build/", "preload-index.c", "wordexp", "__builtin_popcount"}


class Tree:
    """The files and folders of the checkout, by the ends of their paths."""

    def __init__(self, paths):
        self.ends = {}
        for path in paths:
            parts = path.split("/")
            for last in range(1, len(parts) + 1):
                entry = "/".join(parts[:last]) + ("/" if last < len(parts) else "")
                for first in range(last):
                    end = "/".join(entry.split("/")[first:])
                    self.ends.setdefault(end, set()).add(entry)

    def has(self, path, folder):
        if os.path.exists(os.path.join(folder, path)) or os.path.exists(path) and "/" in path:
            return True
        found = self.ends.get(path, ())
        if folder in COMPONENTS and "/" not in path:
            return any(entry.startswith((folder + "/", "compound-ir/")) for entry in found)
        return bool(found)


def words(paths):
    """Return all words of the sources among the paths."""
    found = set()
    for path in paths:
        if re.search(r"\.(?:c|cpp|def|h|py)$", path):
            with open(path, encoding="utf-8") as file:
                found.update(re.findall(r"\w+", file.read()))
    return found


def main():
    tree = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
    tree = [path for path in tree if os.path.exists(path)]
    ends = Tree(tree)
    sources = words(tree) | OUTSIDE
    count, failed = 0, False
    for document in sys.argv[1:]:
        with open(document, encoding="utf-8") as file:
            text = file.read()
        folder = os.path.dirname(document)
        found = [path for path in re.findall(r"`([^`\n]+)`", text)
                 if FILE.fullmatch(path) and not path.startswith("/")]
        found += [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)
                  if "://" not in target]
        # Commands: the script is a path.
        found += re.findall(r"`((?:scripts|\./cosy)[\w./-]*)[ `]", text)
        for path in found:
            count += 1
            if path and path not in OUTSIDE and not ends.has(path, folder):
                print(f"{document}: {path} does not exist")
                failed = True
        for function in re.findall(r"`(\w+)\(\)`", text):
            count += 1
            if function not in sources:
                print(f"{document}: {function}() does not exist")
                failed = True
    print(f"{count} names in {len(sys.argv) - 1} files")
    sys.exit(failed)


main()
