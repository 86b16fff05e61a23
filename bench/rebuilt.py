# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench programs`: programs rebuilt from their sources, by clang and with Cosy."""

import os

import plot
import processes

# The goal for each program: the maximum ratio.
GOALS = {
    "du": 0.92, "find": 0.92, "ls": 1.0, "git": 1.0, "git-marked": 0.83, "git-markers": 0.90, "ninja": 0.92, "cp": 1.0,
    "rm": 1.0, "make": 1.01, "make-some": 1.01, "sqlite": 1.01, "configure": 1.01,
}


def run(root, build, series, runs, names=()):
    """Build missing programs, and print the table. Return true if every goal was reached."""
    processes.build_programs(root)
    rows = processes.Rows(root, build, series, runs, "rebuilt", names)
    figures, missed = processes.table(rows, GOALS)
    print()
    plot.programs(figures, os.path.join(build, "bench", "figures"), "programs",
                  "Programs rebuilt with -fcosy-auto")
    for text in missed:
        print(f"missed: {text}")
    return rows.complete and not missed
