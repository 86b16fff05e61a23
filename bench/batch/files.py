# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""files.py OPERATION - make an operation on many files in Python, by the package cosy.

With COSY_EXECUTOR=native it uses os instead; the package itself ignores this variable. Prints a
sum, which is the same for both. Makes each operation five times, so that the start of Python is a
smaller part of the time.
"""

import os
import sys

NATIVE = os.environ.get("COSY_EXECUTOR") == "native"
if not NATIVE:
    import cosy


def walk(scandir, path):
    total = 0
    with scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                total += walk(scandir, entry.path)
            else:
                total += entry.stat(follow_symlinks=False).st_size
    return total


def list_tree():
    return walk(os.scandir if NATIVE else cosy.scandir, "tree")


def stat_files():
    results = [os.stat(path) for path in PATHS] if NATIVE else cosy.stat_many(PATHS)
    return sum(result.st_size for result in results)


def read_file(path):
    with open(path, "rb", buffering=0) as file:
        return file.read()


def read_files():
    results = [read_file(path) for path in PATHS] if NATIVE else cosy.read_many(PATHS)
    return sum(len(result) for result in results)


PATHS = [f"tree/folder-{i}/file-{j}.txt" for i in range(32) for j in range(100)]
OPERATION = {"list": list_tree, "stat": stat_files, "read": read_files}[sys.argv[1]]
print(sum(OPERATION() for _ in range(5)))
