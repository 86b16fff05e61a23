# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A region of N statements, with --switch each a case of its own, with --regions every ten a
region of their own; or, with --check, whether the plugin's time in two reports of clang's
-ftime-report (5,000 and 20,000 statements) is as it should be."""

import random
import re
import sys


def statement():
    a, b, c = (random.choice("abcdefgh") for _ in range(3))
    return random.choice([
        f"{a} = {b} * {random.randint(2, 99)} + {c};",
        f"{a} ^= {b} >> {random.randint(1, 9)};",
        f"if ({a} > {b}) {c} += {random.randint(1, 999)};",
        f"t[{a} & 63] = {b};",
        f"{a} += t[{b} & 63];",
        f"{a} += getpid() > {b};",
        f"if (read(-1, t, {random.randint(1, 64)}) < 0) {a}++;",
    ])


def generate(count, cases, regions):
    random.seed(1)
    print("#include <cosy.h>\n#include <unistd.h>")
    print("long region(long a, long b)\n{")
    print("long c = 1, d = 2, e = 3, f = 4, g = 5, h = 6;\nstatic long t[64];\nCOSY_START;")
    if cases:
        print("while (a--) switch (b++) {")
    for number in range(count):
        if regions and number and number % 10 == 0:
            print("COSY_END;\nCOSY_START;")
        print(f"case {number}: {statement()} break;" if cases else statement())
    if cases:
        print("}")
    print("COSY_END;\nreturn a + b + c + d + e + f + g + h;\n}")


def seconds(report):
    """User time of the plugin's passes, and of everything else: the first column."""
    with open(report, encoding="utf-8") as file:
        lines = re.findall(r"^ *([0-9.]+) \(.*  (cosy::\w+|Total)$", file.read(), re.MULTILINE)
    plugin = [float(time) for time, what in lines if what != "Total"]
    if not plugin:
        sys.exit(f"{report}: no time of the plugin")
    # The last of the totals, the front end's, is the largest, because it contains all others.
    # RegionPass runs the others; each time is without those of the passes inside.
    total = max(float(time) for time, what in lines if what == "Total")
    return sum(plugin), total - sum(plugin)


if sys.argv[1] == "--check":
    (small, _), (large, rest) = map(seconds, sys.argv[2:])
    print(f"5,000 statements: {small} s, 20,000: {large} s, and clang itself {rest} s")
    # Four times as much, with a tolerance for a busy machine and its caches.
    if large > 2 * rest or large > 14 * max(small, 0.1):
        sys.exit("the plugin takes too long")
else:
    generate(int(sys.argv[-1]), "--switch" in sys.argv, "--regions" in sys.argv)
