# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures whole processes natively and with Cosy: guest instructions from fork to exit, on tmpfs
and ext4."""

import os
import subprocess
import sys

import child


def build_programs(root, packages=()):
    """Build those programs of bench/rebuilt that are missing or out of date, of @packages or of
    all."""
    build = os.path.join(root, "bench", "rebuilt", "build")
    if subprocess.run([build, *packages], check=False).returncode:
        sys.exit("cosy bench: the programs could not be built (see above)")


def rows_file(build, script):
    """Return the file with the rows of bench/SCRIPT/programs that were measured."""
    return os.path.join(build, "bench", script + ".rows")


class Rows:
    """The rows that a script of the guest prints, as they are measured: name, label, native, with Cosy. First
    come those of an interrupted run, which are in the file."""

    def __init__(self, root, build, series, runs, script, names=(), labels=("tmpfs", "ext4")):
        self.command = [os.path.join(root, "scripts", "vm", "run"), "--icount", "--",
                        os.path.join(root, "bench", "common", "processes-guest"),
                        os.path.join(root, "bench", script, "programs"), build, series, str(runs), *names]
        self.file = rows_file(build, script)
        self.script, self.names, self.labels = script, names, labels
        self.complete = True

    def __iter__(self):
        found = set()
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                for line in file:
                    name, label, native, cosy = line.split()
                    if not self.names or name in self.names:
                        found.add((name, label))
                        yield name, label, int(native), int(cosy)
        if not self.names or {(name, label) for name in self.names for label in self.labels} - found:
            yield from self._measure(found)

    def _measure(self, found):
        """Yield the rows that are not in @found, and write them to the file."""
        missing = set(self.names) - {name for name, _ in found}
        with child.running(self.command + [f"-{name}:{label}" for name, label in found]) as vm, \
                open(self.file, "a", encoding="utf-8", buffering=1) as file:
            for line in vm.stdout:
                name, label, native, cosy = line.split()
                file.write(line)
                missing.discard(name)
                yield name, label, int(native), int(cosy)
        if vm.returncode:
            problem = "not everything could be measured (see above)"
        elif missing:
            problem = f"{self.script} has no row {' '.join(sorted(missing))}, or its program is not installed"
        else:
            return
        self.complete = False
        print(f"cosy bench: {problem}", file=sys.stderr)


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
