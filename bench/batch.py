# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench batch`: the batch functions of C and Python, compared with their alternatives."""

import os
import shutil
import subprocess
import sys

import processes


def build_python(root, build):
    """Build the Python package into the build directory. Return true if it could be built."""
    work = os.path.join(build, "bench", "python-build")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    commands = (
        ["cmake", "--install", build, "--prefix", os.path.join(work, "usr")],
        # setup.py writes its files into the directory of the sources, so build a copy.
        ["cp", "-r", os.path.join(root, "bindings", "python"), os.path.join(work, "source")],
        ["sh", "-c", "cd source && PKG_CONFIG='pkg-config --define-prefix' "
         "PKG_CONFIG_PATH=$(dirname $(find $PWD/../usr -name cosy-batch.pc)) "
         "/usr/bin/python3 setup.py -q build --build-lib ../../python"],
    )
    with open(os.path.join(work, "log"), "w", encoding="utf-8") as log:
        return all(subprocess.run(command, cwd=work, stdout=log, stderr=log, check=False)
                   .returncode == 0 for command in commands)


def run(root, build, series, runs, names=()):
    """Print the table. Return true if everything was measured; there are no goals."""
    if not os.path.exists(os.path.join(build, "bench", "batch-files")):
        sys.exit("cosy bench: the benchmark program batch-files is not built\n"
                 "  HINT: run: ./cosy build")
    if not build_python(root, build):
        print("cosy bench: Python is not measured, because its package could not be built\n"
              f"  HINT: see {build}/bench/python-build/log; it needs python3-dev and "
              "python3-setuptools",
              file=sys.stderr)
    rows = processes.Rows(root, build, series, runs, "batch", names)
    processes.table(rows, {})
    return rows.complete
