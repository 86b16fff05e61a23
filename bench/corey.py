# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench corey`: colours, memory and descriptors on several CPUs of this machine.

No module is needed, except for shares: only the program's own threads are measured. Two workers are compared with one,
and, if the machine has more CPUs, as many workers as there are CPUs.
"""

import os
import re
import statistics
import subprocess
import sys

# A row: its name, the program, and its arguments around the number of workers.
ROWS = (
    ("loop-empty", "colours", ("loop",), ("0", "100000")),
    ("team-empty", "colours", ("team",), ("0", "100000")),
    ("loop", "colours", ("loop",), ("30000", "100000")),
    ("team", "colours", ("team",), ("30000", "100000")),
    ("calls-empty", "colours", ("calls",), ("0", "5000000")),
    ("calls", "colours", ("calls",), ("30000", "100000")),
    ("chains-empty", "colours", ("chains",), ("0", "5000000")),
    ("chains", "colours", ("chains",), ("30000", "100000")),
    ("requests-empty", "colours", ("requests",), ("0", "5000000")),
    ("requests", "colours", ("requests",), ("30000", "100000")),
    ("memclone-mmap", "corey", ("memclone-mmap",), ("500",)),
    ("memclone-malloc", "corey", ("memclone-malloc",), ("50000",)),
    ("memclone-ranges", "corey", ("memclone-ranges",), ("50000",)),
    ("memclone-huge", "corey", ("memclone-huge",), ("50000",)),
    ("fresh-ranges", "corey", ("fresh-ranges",), ("100",)),
    ("fresh-huge", "corey", ("fresh-huge",), ("100",)),
    ("mempass-mmap", "corey", ("mempass-mmap",), ("500",)),
    ("mempass-ranges", "corey", ("mempass-ranges",), ("10000",)),
    ("dup", "corey", ("dup",), ("1000",)),
    ("dup-share", "corey", ("dup-share",), ("1000",)),
    ("filesum-stays", "corey", ("filesum-stays",), ("20000",)),
    ("filesum-moves", "corey", ("filesum-moves",), ("20000",)),
    ("short-epoll", "short", ("epoll",), ("8000",)),
    ("short-epoll-shared", "short", ("epoll-shared",), ("8000",)),
    ("short-epoll-more", "short", ("epoll-more",), ("8000",)),
    ("short-loop", "short", ("loop",), ("8000",)),
    ("short-loop-shared", "short", ("loop-shared",), ("8000",)),
    ("short-loop-more", "short", ("loop-more",), ("8000",)),
    ("short-loop-share", "short", ("loop-share",), ("8000",)),
)
# Without the module these measure nothing that is of interest.
WITH_MODULE = ("dup-share", "short-loop-share")


def measure(build, row, workers):
    """Return the time and the CPU time in seconds, and what else the program prints."""
    _, program, before, after = row
    done = subprocess.run([os.path.join(build, "bench", program), *before, str(workers), *after],
                          env={**os.environ, "COSY_EXECUTOR": "auto" if row[0] in WITH_MODULE else "user"},
                          text=True,
                          capture_output=True, check=False)
    match = re.match(r"([\d.]+) s, CPU time ([\d.]+) s\n(.*)", done.stdout)
    if done.returncode or not match:
        sys.exit(f"cosy bench: {program} {row[0]} has failed: {done.stderr.strip()}")
    return float(match[1]), float(match[2]), match[3]


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def run(_root, build, _series, runs, names=()):
    """Print the table. Return True, because there are no goals."""
    known = [row[0] for row in ROWS]
    for name in names:
        if name not in known:
            sys.exit(f"cosy bench: corey has no row '{name}' (there are: {' '.join(known)})")
    for program in ("colours", "corey", "short"):
        if not os.path.exists(os.path.join(build, "bench", program)):
            sys.exit(f"cosy bench: the benchmark program {program} is not built\n"
                     "  HINT: run: ./cosy build")
    cpus = len(os.sched_getaffinity(0))
    counts = sorted({1, 2, cpus})
    if cpus < 2:
        print("cosy bench: there is one CPU: two workers take turns", file=sys.stderr)
    print("| row | workers | seconds (spread) | CPU time | speed-up | |")
    print("|---|---|---|---|---|---|")
    for row in ROWS:
        if names and row[0] not in names:
            continue
        if row[0] in WITH_MODULE and not os.path.exists("/dev/cosy"):
            print(f"cosy bench: {row[0]} is left out: the module is not loaded", file=sys.stderr)
            continue
        one = None
        for workers in counts:
            figures = [measure(build, row, workers) for _ in range(runs)]
            seconds = [figure[0] for figure in figures]
            one = one or statistics.median(seconds)
            print(f"| {row[0]} | {workers} | {spread(seconds)} "
                  f"| {statistics.median(figure[1] for figure in figures):.3f} "
                  f"| {one / statistics.median(seconds):.2f} | {figures[0][2]} |", flush=True)
    return True
