# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench predictions`: compares the savings that the compiler's remarks predict with the
measured savings: -Rpass-analysis=cosy for loops of regions, and -Rpass=cosy for the single calls of
programs that are rebuilt with -fcosy-auto."""

import json
import os
import re
import subprocess
import sys
import tempfile

import child
import processes

# The errors that predictions may have: of single calls, and of loops as programs have them.
TOLERANCE, TYPICAL_TOLERANCE = 0.15, 0.20
# Loops for which the prediction of the usual case is not meant, and why.
UNUSUAL = {"stat_missing": "its calls fail", "stat_missing_3": "its calls fail", "stat_link": "it follows a link", "stat_deep": "six components",
           "pipe_through": "it reads and writes a pipe"}
# Benchmarks whose iterations are those of a loop: its file, and its index in the file.
LOOPS = {
    "getpid": ("getpid", 0), "pread64": ("pread", 0), "pread4096": ("pread", 0),
    "newfstatat": ("stat", 0), "stat": ("stat", 1), "openclose": ("openclose", 0),
    "lseekread": ("lseekread", 0),
}
# Programs of bench/rebuilt/programs that are predicted, and the packages that they are part of.
PROGRAMS = {"du": "coreutils", "cp": "coreutils", "git": "git", "ninja": "ninja-build"}
# A remark about a single call, as -fsave-optimization-record writes it.
SINGLE_CALL = re.compile(r"""^Name: +SingleCall
DebugLoc: +{ File: '?([^',]*)'?, Line: (\d+), Column: (\d+) }
(?:.*\n)*? +- Saved: +'(\d+)'$""", re.MULTILINE)


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


def loops(root, build, program):
    """Return the measured savings of a program's loops: name, instructions per iteration."""
    command = [os.path.join(root, "scripts", "vm", "run"), "--icount", "--",
               os.path.join(root, "bench", "common", "calls-guest"), build, program]
    with child.running(command) as vm:
        lines = vm.stdout.read().splitlines()
    if vm.returncode:
        sys.exit("cosy bench: not everything could be measured (see above)")
    return [(name, int(native) - int(kernel)) for name, native, kernel in map(str.split, lines)]


def predicted_loops(root, build, source):
    """Return the predicted and measured savings of the loops of a source."""
    predicted = predictions(root, build, source + ".c")
    measured = loops(root, build, "region-" + os.path.basename(source))
    return [(name, usual, saved)
            for (name, saved), usual in zip(measured, predicted, strict=True)]


def benchmarks(root, names):
    """Return the measured savings of benchmarks."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "figures.json")
        with child.running([sys.executable, os.path.join(root, "bench", "run"), "--instructions", "--runs", "1",
                            "--json", path, *names]) as run_bench:
            run_bench.stdout.read()
        if run_bench.returncode:
            sys.exit("cosy bench: not everything could be measured (see above)")
        with open(path, encoding="utf-8") as file:
            figures = {(f["bench"], f["way"]): f["runs"][0] for f in json.load(file)}
    return {name: round(figures[name, "native"] - figures[name, "fast"]) for name in names}


def single_calls(build, package):
    """Yield the single calls of a package: file, line, predicted saving. A call in a header
    that several files include comes once."""
    path = os.path.join(build, "rebuilt", "bin", "auto", package + ".remarks")
    with open(path, encoding="utf-8") as file:
        places = set(place.groups() for place in SINGLE_CALL.finditer(file.read()))
    for name, line, _column, saved in places:
        yield os.path.normpath(name), int(line), int(saved)


def line_counts(build, package, program, profile):
    """Return how often each line of a counted program was executed: counts by file and line."""
    merged = profile + ".profdata"
    binary = os.path.join(build, "rebuilt", "bin", "counted", package, program)
    version = os.environ.get("COSY_LLVM", "19")
    subprocess.run([f"llvm-profdata-{version}", "merge", profile, "-o", merged], check=True)
    exported = subprocess.run([f"llvm-cov-{version}", "export", "-format=lcov", binary,
                               "-instr-profile", merged],
                              text=True, stdout=subprocess.PIPE, check=True).stdout
    tree = os.path.join(build, "rebuilt", package, "counted")
    counts, name = {}, None
    for line in exported.splitlines():
        kind, _, value = line.partition(":")
        if kind == "SF":
            name = os.path.relpath(value, tree)
        elif kind == "DA":
            number, count = value.split(",")[:2]
            counts[name, int(number)] = int(count)
    return counts


def predicted_programs(root, build):
    """Return the predicted savings of the programs, in instructions."""
    with tempfile.TemporaryDirectory() as directory:
        work = os.path.join(directory, "work")
        os.mkdir(work)
        subprocess.run([os.path.join(root, "bench", "rebuilt", "programs"), build, "1", "counted",
                        *PROGRAMS], cwd=work, stdout=subprocess.DEVNULL, check=True)
        saved = {}
        for program, package in PROGRAMS.items():
            counts = line_counts(build, package, program,
                                 os.path.join(directory, program + ".profraw"))
            saved[program] = sum(counts.get((name, line), 0) * usual
                                 for name, line, usual in single_calls(build, package))
    return saved


def compare(title, what, rows, tolerance=TOLERANCE):
    """Print the predicted and measured savings of @rows. Return what is outside the tolerance."""
    print(f"{title}\n\n{what:18}{'predicted':>10}{'measured':>10}{'off by':>9}")
    missed = []
    for name, usual, saved in sorted(rows, key=lambda row: -abs(row[1] - row[2]) / abs(row[2])):
        off = (usual - saved) / abs(saved)
        print(f"{name:18}{usual:10}{saved:10}{100 * off:8.1f} %"
              f"{f'  ({UNUSUAL[name]})' if name in UNUSUAL else ''}")
        if abs(off) > tolerance and name not in UNUSUAL:
            missed.append(f"{name} by more than {tolerance * 100:.0f} %")
    print()
    return missed


def run(root, build, series, runs, names=()):
    """Print the tables. Return true if every prediction is within the tolerance."""
    if names:
        sys.exit("cosy bench: predictions are compared all at once")
    processes.build_programs(root, sorted(set(PROGRAMS.values())))
    rows = processes.Rows(root, build, series, runs, "rebuilt", list(PROGRAMS))
    measured = {name: native - cosy for name, system, native, cosy in rows if system == "tmpfs"}
    if not rows.complete:
        return False
    programs = [(name, saved, measured[name])
                for name, saved in predicted_programs(root, build).items()]
    missed = compare("Guest instructions that a program saves with -fcosy-auto", "program",
                     programs)
    rows = predicted_loops(root, build, "unmodified/calls")
    for name, saved in benchmarks(root, list(LOOPS)).items():
        program, place = LOOPS[name]
        usual = predictions(root, build, f"programs/{program}.c")[place]
        rows.append((name, usual, saved))

    missed += compare("Guest instructions that an iteration saves as a part of a compound", "loop",
                      rows)
    missed += compare("The same of loops as programs have them", "loop",
                      predicted_loops(root, build, "programs/typical"), TYPICAL_TOLERANCE)
    for text in missed:
        print(f"missed: {text}")
    return not missed
