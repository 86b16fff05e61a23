# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench compiling`: the CPU time that `cosy-cc -fcosy-auto` takes to compile the sources of
other projects, compared with clang."""

import os
import resource
import shutil
import statistics
import subprocess
import sys

# The maximum ratio to the CPU time of clang.
GOAL = 1.10
# Options of git's Makefile, as in bench/rebuilt/build.
WITHOUT = [f"NO_{name}=1" for name in ("OPENSSL", "CURL", "EXPAT", "GETTEXT", "TCLTK", "PYTHON",
                                       "PERL")]
# For each package: the script that prepares its tree, and the command that is measured. $CC is the
# compiler.
PACKAGES = {
    "sqlite3": (["sh", "-c", "./configure -q --disable-tcl --disable-shared && make -s sqlite3.c"],
                ["sh", "-c", "$CC -O2 -c sqlite3.c -o compiled.o"]),
    "git": ([], ["sh", "-c", 'exec make -s -B -j1 CC="$CC" CFLAGS=-O2 "$@" git', "sh", *WITHOUT]),
}


def prepare(root, build, package, command):
    """Unpack and configure the sources of a package. Return: its directory."""
    tree = os.path.join(build, "compiling", package)
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    script = (f'. "{root}/scripts/common.sh"; . "{root}/scripts/sources.sh"; '
              f'tar -xf "$(source_archive {package})" -C "{tree}" --strip-components=1')
    with open(os.path.join(build, "log", "compiling.log"), "w", encoding="utf-8") as log:
        for step in (["bash", "-euc", f"PROG='cosy bench'; {script}"], command):
            if step and subprocess.run(step, cwd=tree, stdout=log, stderr=log,
                                       check=False).returncode:
                sys.exit(f"cosy bench: {package} cannot be prepared (see {log.name})")
    return tree


def measure(tree, command, compiler):
    """The CPU time in seconds that a command and its children take with a compiler."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    done = subprocess.run(command, cwd=tree, env={**os.environ, "CC": compiler},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"cosy bench: it does not compile with {compiler}\n{done.stderr}")
    return used() - before


def run(root, build, _series, runs, names=()):
    """Print the table. Return true if the goal was reached."""
    if unknown := set(names) - set(PACKAGES):
        sys.exit(f"cosy bench: {unknown.pop()} is not compiled (only: {' '.join(PACKAGES)})")
    clang = os.environ.get("COSY_CLANG", "clang-" + os.environ.get("COSY_LLVM", "19"))
    cosy = os.path.join(build, "bin", "cosy-cc") + " -fcosy-auto"
    reached = True
    print("Seconds of CPU time to compile, median of the runs, and the spread of the ratios\n")
    print(f"{'sources':12}{'clang':>9}{'-fcosy-auto':>13}{'ratio':>8}{'spread':>16}{'goal':>7}")
    for package in names or PACKAGES:
        preparation, command = PACKAGES[package]
        tree = prepare(root, build, package, preparation)
        pairs = []
        for i in range(runs):
            # In turn, each first in every second pair.
            pair = {cc: measure(tree, command, cc) for cc in ((clang, cosy), (cosy, clang))[i % 2]}
            pairs.append((pair[clang], pair[cosy]))
        ratios = sorted(with_cosy / without for without, with_cosy in pairs)
        ratio = statistics.median(ratios)
        reached = reached and ratio <= GOAL
        print(f"{package:12}{statistics.median(p[0] for p in pairs):9.1f}"
              f"{statistics.median(p[1] for p in pairs):13.1f}{ratio:8.3f}"
              f"{f'{ratios[0]:.3f} to {ratios[-1]:.3f}':>16}{GOAL:7.2f}", flush=True)
    return reached
