# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench io_uring-bpf`: Cosy, and io_uring whose loop is a BPF program in the kernel.

Instructions are counted in a VM with Debian's 7.3, because io_uring has such loops since 7.1.
"""

import json
import os
import re
import sys
from statistics import median

import child

SERIES = "7.3"
# Cosy takes at most this share of the instructions of the loop in BPF. Of one client at a time, most is
# switches between the processes, in each way.
GOAL = 0.8
WITHOUT_GOAL = ("sum-process-1",)
# Besides "native", "io_uring" and "io_uring-bpf", the way of Cosy: a region, or operations of a loop, or
# COSY_ASYNC functions.
REGION, OPERATIONS, FUNCTIONS = "fast", "entries", "functions"
# A row: the benchmark, its program, its file system, the way of Cosy, what it is.
ROWS = (
    ("uring-nops", "uring-bpf", "tmpfs", REGION, "a no-op; Cosy and native: getpid"),
    ("uring-files", "uring-bpf", "ext4", REGION, "a file: open, read to the end, close"),
    ("uring-files", "uring-bpf", "tmpfs", REGION, "the same on tmpfs"),
    ("uring-entries", "uring-bpf", "ext4", REGION, "the status of an entry of a directory"),
    ("uring-entries", "uring-bpf", "tmpfs", REGION, "the same on tmpfs"),
    ("sum-unix-64", "echo", "tmpfs", OPERATIONS, "a reply is computed; 64 clients in the same thread"),
    ("sum-process-64", "echo", "tmpfs", OPERATIONS, "the same, the clients are another process"),
    ("sum-process-1", "echo", "tmpfs", FUNCTIONS, "the same, one client at a time"),
)
BPF = "programs/uring-bpf.bpf.c"
# What is written for a benchmark: functions of a file of bench/.
WRITTEN = {
    ("uring-nops", REGION): {"programs/uring-bpf.c": ("nops_by_region",)},
    ("uring-nops", "io_uring-bpf"): {"programs/uring-bpf.c": ("nops_by_bpf",), BPF: ("nops",)},
    ("uring-files", REGION): {"programs/uring-bpf.c": ("files_by_region",)},
    ("uring-files", "io_uring-bpf"): {
        "programs/uring-bpf.c": ("files_by_bpf",),
        BPF: ("open_next", "read_piece", "close_slot", "files")},
    ("uring-entries", REGION): {"programs/uring-bpf.c": ("entries_by_region",)},
    ("uring-entries", "io_uring-bpf"): {
        "programs/uring-bpf.c": ("get_entries", "entries_by_bpf"), BPF: ("entries",)},
    **{(name, OPERATIONS): {"programs/echo.c": ("receive", "received", "sent", "start_loop",
                                                "serve_by_loop")}
       for name in ("sum-unix-64", "sum-process-64")},
    ("sum-process-1", FUNCTIONS): {"programs/echo.c": ("sum_one", "start_loop", "serve_by_loop")},
    **{(name, "io_uring-bpf"): {"programs/echo.c": ("start_bpf", "serve_by_bpf"),
                                BPF: ("receive", "answer", "echo")}
       for name in ("sum-unix-64", "sum-process-64", "sum-process-1")},
}
# What is written once for all loops in BPF; liburing has what a ring itself takes.
ONCE = {"common/uring-bpf.c": ("share", "contents", "open_object", "load_only", "uring_bpf_open",
                               "uring_bpf_run"),
        BPF: ("find_ring", "completion", "entry", "submit")}


def function_lines(text, name):
    """Return the number of lines of a function, without comments and empty lines."""
    start = re.search(rf"^(?:\w[^;\n]*[ *]{name}\(|int BPF_PROG\({name},)(?:[^;]*?)^{{", text,
                      re.M)
    if not start:
        sys.exit(f"cosy bench: there is no function {name}")
    body = text[start.start():text.index("\n}\n", start.end()) + 2]
    lines = re.sub(r"/\*.*?\*/", "", body, flags=re.S).split("\n")
    return sum(bool(line.strip()) for line in lines)


def written_lines(root, written):
    total = 0
    for file, functions in written.items():
        with open(os.path.join(root, "bench", file), encoding="utf-8") as source:
            text = source.read()
        total += sum(function_lines(text, name) for name in functions)
    return total


def measure(root, build, runs, rows):
    """Yield benchmark, file system, way and median of each measurement, as they are made."""
    plan = [(row, way) for row in rows for way in ("native", row[3], "io_uring", "io_uring-bpf")]
    command = [os.path.join(root, "scripts", "vm", "run"), "--kernel", SERIES, "--icount", "--",
               os.path.join(root, "bench", "guest"), build, SERIES, "-i",
               *(f"{program} {name} {way} {runs} {fs}" for (name, program, fs, _, _), way in plan)]
    with child.running(command) as vm:
        vm.stdout.readline()
        for ((name, _, fs, _, _), way), line in zip(plan, vm.stdout):
            figure = json.loads(line)
            print(f"  {name} on {fs}: {way}", file=sys.stderr, flush=True)
            yield name, fs, way, figure and median(figure["runs"])
    if vm.returncode:
        sys.exit("cosy bench: not everything could be measured (see above)")


def print_row(root, row, figures):
    """Print a row of the table. Return true if the goal is reached."""
    name, _, fs, cosy, what = row
    native, ours, ring, loop = (figures[name, fs, way]
                                for way in ("native", cosy, "io_uring", "io_uring-bpf"))
    lines = [written_lines(root, WRITTEN[name, way]) for way in (cosy, "io_uring-bpf")]
    ratio = ours / loop
    print(f"| `{name}`, {fs} | {what} | {native:.0f} | {ours:.0f} | {ring:.0f} | {loop:.0f} "
          f"| {ratio:.2f}{'' if ratio <= GOAL else ' (missed)'} | {lines[0]} | {lines[1]} |", flush=True)
    return ratio <= GOAL or name in WITHOUT_GOAL


def run(root, build, _series, runs, names=()):
    """Print the table. Return true if every goal was reached."""
    known = sorted({row[0] for row in ROWS})
    for name in names:
        if name not in known:
            sys.exit(f"cosy bench: io_uring-bpf has no row '{name}' (there are: {' '.join(known)})")
    if not os.path.exists(os.path.join(build, "kernel", SERIES, "cosy.ko")):
        sys.exit(f"cosy bench: there is no kernel {SERIES}\n  HINT: ./cosy setup {SERIES}, then ./cosy build")
    rows = [row for row in ROWS if not names or row[0] in names]
    figures = {(name, fs, way): value for name, fs, way, value in measure(root, build, runs, rows)}
    print("| | an iteration | native | Cosy | io_uring | io_uring, loop in BPF | Cosy/BPF "
          "| lines, Cosy | lines, BPF |\n|---|---|---|---|---|---|---|---|---|")
    reached = [print_row(root, row, figures) for row in rows]
    print(f"\n{written_lines(root, ONCE)} more lines load and attach a loop in BPF, and find its ring.")
    return all(reached)
