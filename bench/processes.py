# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures whole processes natively and with Cosy: guest instructions from fork to exit, on tmpfs
and ext4."""

import os
import subprocess
import sys


def build_programs(root, packages=()):
    """Build those programs of bench/rebuilt that are missing or out of date, of @packages or of
    all."""
    build = os.path.join(root, "bench", "rebuilt", "build")
    if subprocess.run([build, *packages], check=False).returncode:
        sys.exit("cosy bench: the programs could not be built (see above)")


def measure(root, build, series, runs, script, names=()):
    """Yield the guest's results as it prints them: name, file system, native, with Cosy. Exit if nothing was
    measured for one of @names."""
    command = [os.path.join(root, "scripts", "vm", "run"), "--icount", "--",
               os.path.join(root, "bench", "common", "processes-guest"),
               os.path.join(root, "bench", script, "programs"), build, series, str(runs), *names]
    missing = set(names)
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as vm:
        for line in vm.stdout:
            name, system, native, cosy = line.split()
            missing.discard(name)
            yield name, system, int(native), int(cosy)
    if vm.returncode:
        sys.exit("cosy bench: not everything could be measured (see above)")
    if missing:
        sys.exit(f"cosy bench: {script} has no row {' '.join(sorted(missing))}, or its program is not installed")


def table(lines, goals):
    """Print the results. Return them by name and file system, and the goals that were missed."""
    figures, missed = {}, []
    print("Thousands of guest instructions of whole processes\n")
    print(f"{'program':14}{'on':8}{'native':>10}{'with Cosy':>10}{'ratio':>8}{'goal':>8}")
    for name, system, native, cosy in lines:
        ratio = cosy / native
        goal = goals.get(name)
        print(f"{name:14}{system:8}{native / 1000:10.0f}{cosy / 1000:10.0f}{ratio:8.3f}"
              f"{goal if goal else '':>8}", flush=True)
        if goal and ratio > goal:
            missed.append(f"{name} on {system}: {ratio:.3f} instead of {goal}")
        figures[name, system] = native, cosy
    return figures, missed
