# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench unmodified`: programs of Debian, natively and with `cosy run`; examples, natively
and with compounds."""

import os

import plot
import processes

# The goal for each program: the maximum ratio. For programs that cannot gain it is about 1.
GOALS = {
    "du": 0.71, "tar": 0.80, "tar-null": 0.70, "find": 0.75, "git": 0.75, "rsync": 0.86,
    "perl": 0.88, "ls": 0.78, "ninja": 0.93, "make": 0.93, "cp": 0.87, "rm": 0.92, "python": 0.92,
    "sort": 1.005, "true": 1.005, "grep": 0.86, "link": 0.91, "npm": 0.94, "node": 0.92, "tcl": 0.85,
    "git-gc": 0.98, "clamscan": 0.93, "configure": 1.005,
}
# Processes that only start: with libcosy-preload.so, and with an empty preloaded object.
STARTS = ("start", "empty")
# The maximum number of instructions that the start takes more than with an empty preloaded object.
START = 60000


def run(root, build, series, runs, names=()):
    """Print the table. Return true if every goal was reached."""
    rows = processes.Rows(root, build, series, runs, "unmodified", names)
    figures, missed = processes.table(rows, GOALS)
    print()
    plot.programs(figures, os.path.join(build, "bench", "figures"), "unmodified",
                  "Programs of Debian with cosy run")
    for system in ("tmpfs", "ext4"):
        if ("start", system) in figures and ("empty", system) in figures:
            start, empty = (figures[name, system][1] - figures[name, system][0]
                            for name in STARTS)
            print(f"Starting a process, above preloading an empty object ({system}): "
                  f"{start - empty}")
            if start - empty > START:
                missed.append(f"start on {system}: {start - empty} instead of {START}")
    for text in missed:
        print(f"missed: {text}")
    return rows.complete and not missed
