#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare what the tests of a suite have printed natively and with Cosy.

usage: test/foreign/compare.py SUITE RESULTS [AGAIN...]

RESULTS contains a folder for each way, with a file for each test; AGAIN is the same of tests that
were run again, because they differed.  A test, or a part of it, differs if no run with Cosy has
ended as a native one.  Print a line for each difference that test/foreign/known does not explain,
and a summary for each way; fail if there is a difference.

       test/foreign/compare.py --names SUITE RESULTS

Print the names of the tests that differ.
"""

import argparse
import os
import re
import sys

STATUS = {0: "passed", 77: "skipped", 124: "timed out", 137: "timed out"}
# The parts of tests of git and perl, by their numbers.
TAP = re.compile(r"(ok|not ok) (\d+)\b(.*)")
# Those of Python's, by their names.  What a part prints may stand before its result.
UNITTEST = re.compile(r"(\w+) \(([\w.]+)\) \.\.\. (.*)")
UNITTEST_RESULT = re.compile(r"(ok|skipped|FAIL|ERROR|expected failure|unexpected success)\b")
# Those of SQLite's and toybox's, by their names. SQLite prints the result on a line of its own if the
# part has failed. Those of avtrans and trans end with a number that is random.
SQLITE = re.compile(r"(\S+?)(?:(?<=\.\d)-\d+)?\.\.\.(?: (Ok|Omitted))?$")
SQLITE_FAILURE = re.compile(r"! (\S+) (expected|got)")
TOYBOX = re.compile(r"(PASS|FAIL|SKIP): (.*)")


def outcomes(path):
    """How the parts of a test have ended, by name; "" is the whole test."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    status = int(lines[-1].removeprefix("status: "))
    parts = {"": STATUS.get(status, f"failed with status {status}")}
    running = None
    for line in lines:
        if match := TAP.match(line):
            result, name, title = match.groups()
            directive = re.search(r"# (skip|todo)\b", title, re.IGNORECASE)
            parts[name] = directive[1].lower() if directive else result
            continue
        if match := SQLITE.match(line):
            parts[match[1]] = match[2] or "no result"
            continue
        if match := SQLITE_FAILURE.match(line):
            parts[match[1]] = "failed"
            continue
        if match := TOYBOX.match(line):
            # Several parts may have the same name.
            parts[match[2]] = ", ".join(filter(None, (parts.get(match[2]), match[1])))
            continue
        if match := UNITTEST.match(line):
            function, where, line = match.groups()
            running = f"{where.removesuffix('.' + function)}.{function}"
            parts[running] = "no result"
        if running and (match := UNITTEST_RESULT.match(line)):
            parts[running] = match[1]
            running = None
    return parts


def known_differences(suite):
    """The reasons of known differences, by way and name."""
    reasons = {}
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "known")
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                of, way, name, reason = line.split(None, 3)
                if of == suite:
                    reasons[way, name] = reason.strip()
    return reasons


def tests_of(results, way):
    try:
        names = os.listdir(os.path.join(results, way))
    except FileNotFoundError:
        return []
    return sorted(name for name in names if not name.endswith(".new"))


def runs(directories, way, name):
    """The outcomes of all runs of a test."""
    paths = (os.path.join(results, way, name) for results in directories)
    return [outcomes(path) for path in paths if os.path.exists(path)]


def compare(directories, way, name):
    """The parts of a test that have ended otherwise than natively, each with all outcomes of both."""
    with_cosy = runs(directories, way, name)
    native = runs(directories, "native", name)
    if not native:
        # The guest does not run natively what passes with Cosy in all ways.
        native = with_cosy
    parts = sorted({part for run in with_cosy + native for part in run})
    for part in parts:
        here = [run.get(part, "not run") for run in with_cosy]
        there = [run.get(part, "not run") for run in native]
        if here[0] != there[0]:
            yield part, here, there


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", action="store_true")
    parser.add_argument("suite")
    parser.add_argument("results")
    parser.add_argument("again", nargs="*")
    options = parser.parse_args()

    directories = [options.results, *options.again]
    reasons = known_differences(options.suite)
    ways = [way for way in ("auto", "lto", "run") if tests_of(options.results, way)]
    differing = set()
    summary = []
    for way in ways:
        parts = same = known = unstable = different = 0
        names = tests_of(options.results, way)
        for name in names:
            test = name.replace(",", "/")
            parts += len(runs([options.results], way, name)[0]) - 1
            label = None
            worst = "same"
            for part, here, there in compare(directories, way, name):
                label = f"{test}.{part}" if part else test
                if (way, label) in reasons:
                    worst = "known" if worst == "same" else worst
                    continue
                differing.add(test)
                if set(here) & set(there):
                    kind = "unstable"
                    worst = kind if worst != "different" else worst
                else:
                    kind = worst = "different"
                if not options.names:
                    print(f"{kind}: {way} {label}: {', '.join(here)}; natively {', '.join(there)}")
            same += worst == "same"
            known += worst == "known"
            unstable += worst == "unstable"
            different += worst == "different"
        of_parts = f" with {parts} parts" if parts else ""
        summary.append((f"{options.suite}, {way}: {len(names)} tests{of_parts}: {same} the same, "
                        f"{known} known differences, {unstable} unstable, {different} different",
                        different))
    if options.names:
        print("".join(f"{name}\n" for name in sorted(differing)), end="")
        return
    for line, _ in summary:
        print(line)
    sys.exit(any(different for _, different in summary))


if __name__ == "__main__":
    main()
