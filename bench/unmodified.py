# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench unmodified`: programs of Debian, natively and with `cosy run`; examples, natively
and as compounds.

Guest instructions of whole processes, from fork to exit, on tmpfs and ext4.
"""

import os
import subprocess
import sys

# The ratio to reach for each program; for those without one, that nothing is lost.
GOALS = {
    "du": 0.71, "tar": 0.70, "find": 0.75, "git": 0.83, "rsync": 0.85, "perl": 0.88,
    "ls": 0.88, "ninja": 0.93, "make": 0.93, "cp": 0.92, "rm": 0.92, "python": 0.92,
    "sort": 1.005, "grep": 1.005,
}
# Processes that do little: their start is all they are.
STARTS = ("sh", "true", "empty")
# Instructions by which the start may exceed that with an empty preloaded object.
START = 60000


def measure(root, build, series, runs, names):
    """The lines of the guest as they come: name, file system, native, with Cosy."""
    command = [os.path.join(root, "scripts", "vm", "run"), "--icount", "--",
               os.path.join(root, "bench", "unmodified", "guest"), build, series, str(runs),
               *names]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as vm:
        for line in vm.stdout:
            name, system, native, cosy = line.split()
            yield name, system, int(native), int(cosy)
    if vm.returncode:
        sys.exit("cosy bench: not everything could be measured (see above)")


def run(root, build, series, runs, names=()):
    """Print the table. Return: was every goal reached?"""
    missed = []
    start = {}
    print("Thousands of guest instructions of whole processes\n")
    print(f"{'program':14}{'on':8}{'native':>10}{'with Cosy':>10}{'ratio':>8}{'goal':>8}")
    for name, system, native, cosy in measure(root, build, series, runs, names):
        ratio = cosy / native
        goal = GOALS.get(name)
        print(f"{name:14}{system:8}{native / 1000:10.0f}{cosy / 1000:10.0f}{ratio:8.3f}"
              f"{goal if goal else '':>8}", flush=True)
        if goal and ratio > goal:
            missed.append(f"{name} on {system}: {ratio:.3f} instead of {goal}")
        if name in STARTS:
            start[name, system] = cosy - native
    for system in ("tmpfs", "ext4"):
        if ("true", system) in start and ("empty", system) in start:
            more = start["true", system] - start["empty", system]
            print(f"\nStarting a process, above preloading an empty object ({system}): {more}")
            if more > START:
                missed.append(f"start on {system}: {more} instead of {START}")
    for text in missed:
        print(f"missed: {text}")
    return not missed
