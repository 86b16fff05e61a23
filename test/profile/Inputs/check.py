# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py SOURCE DIRECTORY: check that record.sh has recorded what known.c does."""

import html.parser
import json
import os
import sys
from collections import Counter

source, directory = sys.argv[1:]
lines = {}
with open(source, encoding="ascii") as text:
    for number, line in enumerate(text, 1):
        if line.endswith(" */\n") and "/*" in line:
            lines[line.split("/*")[1].split()[0]] = number


def load(name):
    with open(os.path.join(directory, name), encoding="utf-8") as text:
        return json.load(text)


def of(profile, name):
    return next(e for e in profile["executables"] if os.path.basename(e["path"]) == name)


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, not {expected}")


def counts(executable):
    total = Counter()
    for site in executable["sites"]:
        total[site["syscall"]] += site["count"]
    return total


def site_at(executable, syscall, line):
    """The index of the place that is called from a line of known.c."""
    found = [i for i, site in enumerate(executable["sites"]) if site["syscall"] == syscall and any(
        frame["line"] == line and frame["file"].endswith("known.c") for frame in site["stack"])]
    same(f"places of {syscall} in line {line}", len(found), 1)
    return found[0]


def transition(executable, start, end):
    return sum(t["count"] for t in executable["transitions"]
               if (t["from"], t["to"]) == (start, end))


def check_files(executable):
    opened, read, closed = [site_at(executable, call, lines[word]) for call, word in
                            (("openat", "open"), ("read", "read"), ("close", "close"))]
    same("opened, read, closed",
         [executable["sites"][i]["count"] for i in (opened, read, closed)], [40, 40, 40])
    # The program makes them, even if the C library's wrappers call functions inside of it.
    same("made in", [executable["sites"][i].get("within") for i in (opened, read, closed)],
         [None] * 3)
    same("transitions", [transition(executable, *pair) for pair in (
        (opened, read), (read, closed), (closed, opened))], [40, 40, 39])
    loop = next(l for l in executable["loops"] if opened in l["sites"])
    same("loop", (loop["sites"], loop["iterations"], loop["function"], loop["first_line"],
                  loop["last_line"]),
         ([opened, read, closed], 40, "files", lines["open"], lines["close"]))


known = load("known.json")
same("status", known["status"], 128 + 15)
same("command", known["command"][:2], ["sh", "-c"])
# sh executes known. It starts static. Each of the two starts two more.
same("processes", known["processes"], 1 + 1 + 2 + 2)
same("warnings", known["warnings"], [])
program = of(known, "known")
same("runs, forks, threads", [program[k] for k in ("runs", "forks", "threads")], [2, 2, 1])
total = counts(program)
same("calls", [total[c] for c in ("getsid", "getpgid", "getuid", "geteuid", "getgid")],
     [8, 400, 15, 10, 7])
same("sum of calls", sum(total.values()), program["calls"])
check_files(program)
# fflush() makes this call, by the same wrapper that programs call.
within, = [site.get("within", "") for site in program["sites"] if site["syscall"] == "write"]
same("write in fflush()", within.endswith("fflush"), True)

outer, inner = site_at(program, "getsid", lines["getsid"]), \
    site_at(program, "getpgid", lines["getpgid"])
same("inner transitions", transition(program, inner, inner), 8 * 49)
same("outer transitions", (transition(program, outer, inner), transition(program, inner, outer)),
     (8, 7))
inside = next(i for i, l in enumerate(program["loops"]) if inner in l["sites"])
around = next(l for l in program["loops"] if outer in l["sites"])
same("inner loop", (program["loops"][inside]["sites"], program["loops"][inside]["iterations"]),
     ([inner], 400))
same("outer loop", (around["sites"], around["inner"], around["iterations"]), ([outer], [inside], 8))

# One call of stat() in the source, from two lines.
for word, count, failed in (("existing", 30, 0), ("missing", 20, 20)):
    site = program["sites"][site_at(program, "newfstatat", lines[word])]
    same(f"stat in line {lines[word]}", (site["count"], site["failed"]), (count, failed))
    same("calls status()", site["function"], "status")
    if not site["run_saves_ns"] > 0:
        sys.exit("cosy run is predicted not to gain by stat")
# The C library's internal calls, such as the dynamic linker's, are not interposed.
for site in program["sites"]:
    if site["stack"] and "ld-linux" in site["stack"][0]["module"]:
        same("the linker's calls gain", site["run_saves_ns"], 0)

# Without a dynamic linker, symbols and lines: the same calls and loops, and cosy run gains none.
static = of(known, "static")
total = counts(static)
same("static calls", [total[c] for c in ("getsid", "getpgid", "getuid", "geteuid", "getgid")],
     [8, 400, 15, 10, 7])
same("static loops", [l["iterations"] for l in static["loops"]
                      if [static["sites"][s]["syscall"] for s in l["sites"]] in (
                          ["openat", "read", "close"], ["getpgid"], ["getsid"])], [400, 40, 8])
same("static gains", static["run_saves_ns"], 0)

for name in ("process.json", "interrupted.json"):
    profile = load(name)
    same("command", profile["command"], [])
    check_files(of(profile, "known"))

profile = load("executes.json")
same("executes", [(e["runs"], counts(e)["getgid"]) for e in (of(profile, "known"), of(profile, "dash"))],
     [(2, 14), (1, 0)])

profile = load("compat.json")
same("warnings", profile["warnings"], ["100 calls of 32-bit code were not recorded"])
same("writev", counts(of(profile, "compat"))["writev"], 0)

# The lines are in a file that .gnu_debuglink names, or in a package.
for name in ("linked", "split"):
    check_files(of(load(f"{name}.json"), name))


class Page(html.parser.HTMLParser):
    """Checks that each element is closed, and that the page needs no other file."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href", "xlink:href"):
                sys.exit(f"the page needs {value}")
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        same("closed", tag, self.open.pop() if self.open else None)


page = Page()
with open(os.path.join(directory, "known.html"), encoding="utf-8") as text:
    page.feed(text.read())
page.close()
same("open at the end", page.open, [])
print("as it should be")
