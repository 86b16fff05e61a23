# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures wall-clock time natively on the host."""

import json
import os
import subprocess
import tempfile
import time

# The last measurement of the benchmarks without a program of their own.
LAST = {"interpreter": ("fnv", "user"), "native-overhead": ("native-overhead/ls5000", "native"),
        "compile": ("compile", "native")}

# Pairs for the native-overhead and compile benchmarks.
PAIRS = 31


def _output(command, directory, executor="native"):
    return subprocess.run(
        command, cwd=directory, env={**os.environ, "COSY_EXECUTOR": executor}, check=True,
        text=True, stdout=subprocess.PIPE).stdout


def native(results, programs, bench, directory, runs):
    """Measure a benchmark program natively."""
    figure = json.loads(_output(
        [os.path.join(programs, bench.program), bench.name, "native", "-r", str(runs)], directory))
    figure["where"] = "host"
    results.add(figure)


def interpreter(results, programs, loops, directory):
    """Measure the user executor: simple operations, and loops that only compute."""
    plan = [("op", "op", "user")]
    plan += [("interpreter", loop, way) for loop in loops for way in ("native", "user")]
    for program, name, way in plan:
        # Many short runs, so that the best one was not interrupted.
        figure = json.loads(_output([os.path.join(programs, program), name, "native", "-r", "100"],
                                    directory, way))
        figure["where"] = "host"
        figure["way"] = way
        results.add(figure)


def _pairs(results, name, per, measure):
    """Measure with and without Cosy in turn, in alternating order."""
    runs = {"compound": [], "native": []}
    for i in range(PAIRS):
        for way in ("compound", "native") if i % 2 else ("native", "compound"):
            runs[way].append(round(measure(way), 2))
    for way, values in runs.items():
        results.add({"bench": name, "way": way, "metric": "ns", "per": per, "where": "host",
                     "runs": values})


def native_overhead(results, programs, directory):
    """Compare a program with regions and the same program compiled without the plugin.

    In the JSON the former is "compound", although it runs natively.
    """
    for program, bench in (("fit", "fit5"), ("ls5000", "ls5000")):
        def measure(way, program=program, bench=bench):
            suffix = "" if way == "compound" else "-plain"
            return min(json.loads(_output(
                [os.path.join(programs, program + suffix), bench, "native", "-r", "10"],
                directory))["runs"])

        _pairs(results, f"native-overhead/{bench}", "iteration", measure)


def compile_cost(results, root, build):
    """Measure compiling a file without regions, with and without the plugin."""
    source = os.path.join(root, "bench", "common", "bench.c")
    plugin = os.path.join(build, "lib", "cosy-plugin.so")
    clang = os.environ.get("COSY_CLANG", "clang-" + os.environ.get("COSY_LLVM", "19"))

    with tempfile.TemporaryDirectory() as directory:
        def measure(way):
            command = [clang, "-std=gnu11", "-O2", "-c", source,
                       "-o", os.path.join(directory, "out.o")]
            if way == "compound":
                command += [f"-fplugin={plugin}", f"-fpass-plugin={plugin}"]
            start = time.monotonic_ns()
            subprocess.run(command, check=True)
            return time.monotonic_ns() - start

        measure("compound")
        _pairs(results, "compile", "file", measure)
