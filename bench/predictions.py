# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench predictions`: compares the savings that -Rpass-analysis=cosy predicts for loops of
regions with the measured savings."""

import json
import os
import re
import subprocess
import sys
import tempfile

# The error that a prediction may have.
TOLERANCE = 0.15
# Loops whose calls fail. The prediction is for calls that succeed.
FAILING = {"stat_missing"}
# Benchmarks whose iterations are those of a loop: its file, and its index in the file.
LOOPS = {
    "getpid": ("getpid", 0), "pread64": ("pread", 0), "pread4096": ("pread", 0),
    "newfstatat": ("stat", 0), "stat": ("stat", 1), "openclose": ("openclose", 0),
    "lseekread": ("lseekread", 0),
}


def predictions(root, build, source):
    """Return the predicted savings of an iteration of each loop of a source, in instructions."""
    done = subprocess.run(
        [os.path.join(build, "bin", "cosy-cc"), "-std=gnu11", "-O2", "-w", "-Rpass-analysis=cosy",
         f"-I{root}/runtime/include", f"-I{root}/compound-ir/include", "-c",
         os.path.join(root, "bench", source), "-o", os.devnull],
        text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"cosy bench: {source} does not compile\n{done.stderr}")
    return [int(number) * (1 if than == "less" else -1) for number, than in
            re.findall(r"it usually takes (\d+) (less|more)", done.stderr)]


def calls(root, build):
    """Return the measured savings of bench/unmodified/calls.c: name, instructions per iteration."""
    done = subprocess.run(
        [os.path.join(root, "scripts", "vm", "run"), "--icount", "--",
         os.path.join(root, "bench", "common", "calls-guest"), build],
        text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit("cosy bench: not everything could be measured (see above)")
    return [(name, int(native) - int(kernel))
            for name, native, kernel in map(str.split, done.stdout.splitlines())]


def benchmarks(root, names):
    """Return the measured savings of benchmarks."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "figures.json")
        done = subprocess.run(
            [sys.executable, os.path.join(root, "bench", "run"), "--instructions", "--runs", "1",
             "--json", path, *names], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            sys.exit("cosy bench: not everything could be measured (see above)")
        with open(path, encoding="utf-8") as file:
            figures = {(f["bench"], f["way"]): f["runs"][0] for f in json.load(file)}
    return {name: round(figures[name, "native"] - figures[name, "fast"]) for name in names}


def run(root, build, _series, _runs, names=()):
    """Print the table. Return true if every prediction is within the tolerance."""
    if names:
        sys.exit("cosy bench: predictions are compared all at once")
    rows = []
    predicted = predictions(root, build, "unmodified/calls.c")
    for (name, saved), usual in zip(calls(root, build), predicted, strict=True):
        rows.append((name, usual, saved))
    for name, saved in benchmarks(root, list(LOOPS)).items():
        program, place = LOOPS[name]
        usual = predictions(root, build, f"programs/{program}.c")[place]
        rows.append((name, usual, saved))

    print("Guest instructions that an iteration saves as a part of a compound\n")
    print(f"{'loop':18}{'predicted':>10}{'measured':>10}{'off by':>9}")
    missed = []
    for name, usual, saved in sorted(rows, key=lambda row: -abs(row[1] - row[2]) / abs(row[2])):
        off = (usual - saved) / abs(saved)
        print(f"{name:18}{usual:10}{saved:10}{100 * off:8.1f} %"
              f"{'  (its calls fail)' if name in FAILING else ''}")
        if abs(off) > TOLERANCE and name not in FAILING:
            missed.append(name)
    for name in missed:
        print(f"missed: {name} by more than {TOLERANCE * 100:.0f} %")
    return not missed
