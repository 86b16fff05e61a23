#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the files and functions that documents name exist.

usage: check-paths.py DOCUMENT...      (from the root of the checkout)

These are paths and names of files in `...`, from the root, from the document's folder or from the
module's, and the targets of links. A name without a folder may be that of any file or folder. A
function, `...()`, may be in any source.
"""

import os
import re
import subprocess
import sys

FILE = re.compile(r"[\w./-]+(?:/|\.(?:c|cpp|def|h|map|md|py|S|test|toml|txt|\d))")


def exists(path, folder, names):
    return (os.path.exists(path) or os.path.exists(os.path.join(folder, path)) or
            os.path.exists(os.path.join(folder, "src", path)) or
            os.path.exists(os.path.join("kernel/cosy", path)) or
            ("/" not in path[:-1] and path in names))


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
    names = {os.path.basename(path) for path in tree}
    names |= {part + "/" for path in tree for part in path.split("/")[:-1]}
    sources = words(tree)
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
            if path and not exists(path, folder, names):
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
