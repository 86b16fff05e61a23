# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench lines`: what the scaling of `./cosy bench corey`'s rows depends on, counted for 1, 2, 4 and 8 virtual CPUs.

A VM counts instructions, and accesses to lines of memory that one CPU writes and another one uses (scripts/vm/lines.c).
Time on as many CPUs cannot be measured where there are fewer. The model, which was stated before the counts were made,
is that a CPU makes the same accesses to shared lines however many CPUs there are. So the counts for 2 CPUs predict those
for 4 and 8. Each of these accesses takes as long as a line needs from one cache to another, and no line moves twice at a time.
"""

import os
import re
import shlex
import sys
import tempfile

import child

CPUS = (1, 2, 4, 8)

# A row: its name, the program, its arguments around the number of workers, the number of rounds for each worker, and
# of operations in a round.
ROWS = (
    ("team-empty", "colours", "team", "0", 2000, 1),
    ("calls-empty", "colours", "calls", "0", 100000, 1),
    ("chains-empty", "colours", "chains", "0", 50000, 1),
    ("requests", "colours", "requests", "30000", 400, 1),
    ("memclone-mmap", "corey", "memclone-mmap", "", 8, 1),
    ("memclone-ranges", "corey", "memclone-ranges", "", 20000, 1),
    ("mempass-mmap", "corey", "mempass-mmap", "", 4, 1),
    ("mempass-ranges", "corey", "mempass-ranges", "", 20, 1),
    ("dup", "corey", "dup", "", 80, 1000),
    ("dup-share", "corey", "dup-share", "", 80, 1000),
    ("short-epoll", "short", "epoll", "", 160, 1),
    ("short-epoll-shared", "short", "epoll-shared", "", 160, 1),
    ("short-loop", "short", "loop", "", 160, 1),
    ("short-loop-shared", "short", "loop-shared", "", 160, 1),
    ("short-loop-share", "short", "loop-share", "", 160, 1),
)

# Prints the interrupts that processors have sent to each other, and the context switches.
GUEST = """
sums() {
	awk '$1 ~ /^(RES|CAL|TLB):$/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { printf "%d ", n }' /proc/interrupts
	awk '$1 == "ctxt" { print $2 }' /proc/stat
}
export COSY_BENCH_PIN=1 COSY_EXECUTOR=auto
"""


def script(build, rows, cpus):
    """Return what the guest's shell runs: each row, and the sums before and after it."""
    lines = [GUEST]
    for name, program, before, after, rounds, _ in rows:
        command = " ".join((shlex.quote(os.path.join(build, "bench", program)), before, str(cpus), after,
                            str(rounds * cpus)))
        lines.append(f'a=$(sums); {command} >/dev/null || exit 1; echo "{name} $a $(sums)"')
    return "\n".join(lines)


def count(root, build, series, rows, cpus):
    """Yield for each row of one VM its name, and its counts for an operation."""
    with tempfile.NamedTemporaryFile(dir=os.path.join(build, "bench"), mode="r", encoding="utf-8") as counts:
        command = [os.path.join(root, "scripts", "vm", "run"), "--kernel", series, "--smp", str(cpus),
                   "--lines", counts.name, "--", "sh", "-c", script(build, rows, cpus)]
        with child.running(command) as vm:
            sums = [line.split() for line in vm.stdout]
        if vm.returncode:
            sys.exit("cosy bench: not everything could be counted (see above)")
        intervals = [line for line in counts if line.startswith("user=")]
        for row, line, interval in zip(rows, sums, intervals, strict=True):
            operations = row[4] * row[5] * cpus
            figures = {key: int(value) / operations for key, value in re.findall(r"(\w+)=(\d+)", interval)}
            before, after = (int(line[1]), int(line[2])), (int(line[3]), int(line[4]))
            figures["ipis"] = (after[0] - before[0]) / operations
            figures["switches"] = (after[1] - before[1]) / operations
            yield row[0], figures


def run(root, build, series, _runs, names=()):
    """Print the table. Return True, because there are no goals."""
    known = [row[0] for row in ROWS]
    for name in names:
        if name not in known:
            sys.exit(f"cosy bench: lines has no row '{name}' (there are: {' '.join(known)})")
    rows = [row for row in ROWS if not names or row[0] in names]
    found = {}
    for cpus in CPUS:
        print(f"Counting with {cpus} CPUs in the VM", file=sys.stderr)
        for name, figures in count(root, build, series, rows, cpus):
            found[name, cpus] = figures
    print("Of each operation; atomics, writes and reads on lines that one CPU writes and another uses, and how often\n"
          "such a line was seen to move\n")
    print("| row | CPUs | instructions in user mode | in the kernel | atomics | writes | reads | moves "
          "| interrupts to CPUs | context switches |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, *_ in rows:
        for cpus in CPUS:
            figures = found[name, cpus]
            print(f"| {name} | {cpus} | {figures['user']:.0f} | {figures['kernel']:.0f} | {figures['atomics']:.3f} "
                  f"| {figures['stores']:.3f} | {figures['loads']:.3f} | {figures['moves']:.3f} "
                  f"| {figures['ipis']:.3f} | {figures['switches']:.3f} |", flush=True)
    return True
