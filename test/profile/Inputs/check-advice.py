# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-advice.py DIRECTORY: check the advice for the programs that advice.sh has recorded."""

import json
import os
import sys


def load(name):
    """Return the advice about a program, and the whole profile."""
    with open(os.path.join(sys.argv[1], name + ".json"), encoding="utf-8") as text:
        profile = json.load(text)
    advice = profile["advice"]
    # Gains of advice without an alternative concern different calls: their sum is possible.
    sums = 0
    for index, one in enumerate(advice):
        other = one.get("alternative_to")
        if other is not None:
            assert other < index and "alternative_to" not in advice[other], (name, index)
            assert one["saved_ns"] <= advice[other]["saved_ns"], (name, index)
        elif one["saved_ns"] > 0:
            sums += one["saved_ns"]
    assert sums <= profile["cpu_ns"], (name, sums)
    return advice, profile


def titles(advice, kind=None):
    return [one["title"] for one in advice if kind in (None, one["kind"])]


for name in ("records", "answers"):
    assert "cosy_copy_file" not in str(load(name)[0]), name
assert any(title.startswith("cosy_copy_file(3)") for title in titles(load("copy")[0]))

advice, profile = load("times")
executable, = profile["executables"]
zone, = [one for one in advice if one["kind"] == "environment"]
assert zone["title"] == "TZ=:/etc/localtime in the environment", zone
assert "localtime() looks at the file 39" in zone["details"][0], zone
assert zone["saved_ns"] > 0 and "alternative_to" not in zone, zone
# The VM's root directory is on 9p, which asks the host at each look-up. The module cannot avoid that.
site = max(executable["sites"], key=lambda site: site["count"])
assert site["syscall"] == "newfstatat" and site["count"] - site["slow"] < 5, site
each = site["run_saves_ns"] / profile["ns_per_instruction"] / site["count"]
assert 700 < each < 1000, each
# No program can replace the calls inside localtime().
assert not titles(advice, "batch") and not titles(advice, "markers"), titles(advice)

# The batch, cosy run and markers change the same calls.
advice, _ = load("sizes")
assert titles(advice, "batch") == ["cosy_stat_many(3) in place of the loop"], titles(advice)
assert [one["kind"] for one in advice if one["saved_ns"] > 0
        and "alternative_to" not in one] == ["batch"], advice
assert {one["kind"] for one in advice if "alternative_to" in one} == {"run", "markers"}, advice

# cosy run makes the calls of utime() and fopen(), and those that realpath() makes for an absolute name. A
# descriptor for O_PATH needs the kernel's path walk, so it saves less.
_, profile = load("reached")
executable, = profile["executables"]


def saved(syscall, within):
    """Return the instructions that the calls of a site save, and their number."""
    site, = [site for site in executable["sites"]
             if site["count"] >= 400 and (site["syscall"], site.get("within", "")) == (syscall, within)]
    return site["run_saves_ns"] / profile["ns_per_instruction"], site["count"]


total, calls = saved("utimensat", "utime")
assert calls == 400 and 1000 < total / calls < 3000, (total, calls)
total, calls = saved("openat", "?")
assert calls == 400 and 1000 < total / calls < 3000, (total, calls)
total, calls = saved("openat", "")
assert calls == 400 and 600 < total / calls < 1100, (total, calls)
# Three components of the absolute name, and one of the relative one.
total, calls = saved("readlink", "realpath")
assert calls == 1600 and 400 * 5000 < total < 400 * 11000, (total, calls)

# What a call saves depends on its name: one of several components, or of one in the working directory or in a
# directory that is open. Names that are missing save more, and openings that take the kernel's path walk less.
_, profile = load("names")
executable, = profile["executables"]
path, here, in_directory, also_here, opened, writing, unusual, missing, missing_opened = (
    next(site["run_saves_ns"] / profile["ns_per_instruction"] / site["count"]
         for site in executable["sites"]
         if site["count"] == count and site["syscall"] in ("newfstatat", "openat"))
    for count in range(401, 410))
assert here + 50 < path < in_directory - 50 < 2000, (path, here, in_directory)
assert abs(here - also_here) < 20, (here, also_here)
assert 600 < writing < 1100 and abs(writing - unusual) < 20 and writing + 400 < opened, (
    writing, unusual, opened)
# These names are on tmpfs.
slow = sum(site["slow"] for site in executable["sites"] if 401 <= site["count"] <= 409)
assert slow < 10, slow
assert in_directory + 500 < missing and missing_opened + 300 < missing, (missing, missing_opened)

# A program in Go cannot use markers or batches; a program without lines has no place for markers.
advice, _ = load("go")
assert titles(advice) == ["cosy run"], titles(advice)
advice, _ = load("stripped")
assert not titles(advice, "markers"), titles(advice)

# cosy run executes true without its library; sh and ls load it.
advice, profile = load("short")
runs = {os.path.basename(e["path"]): (e["runs"], e["short_runs"]) for e in profile["executables"]}
assert runs["true"] == (20, 20) and runs["ls"] == (1, 0), runs
assert "no change for 20 short programs that cosy run executes without it" in str(advice)
start = 70000 * profile["ns_per_instruction"]
run, = [one for one in advice if one["kind"] == "run"]
assert -2.5 * start < run["saved_ns"], (run, start)
