#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cosy-compare: runs a command natively and with Cosy, compares what it does, and measures it.
`cosy compare` executes this. cosy-compare(1) describes it."""

import argparse
import ctypes
import errno
import hashlib
import itertools
import json
import math
import mmap
import os
import platform
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

RELEASE = "@COSY_RELEASE@"
DEVICE = "/dev/cosy"
# The status if this program itself fails, as of `cosy run`.
OWN_FAILURE = 125
DIFFERENT = 1

# The rounds of runs, unless --runs says otherwise, and the time after which no further one begins.
ROUNDS, SECONDS = 15, 30
# Times of short programs vary more, so they have more rounds: as many as this time and number allow.
SHORT_SECONDS, MAX_ROUNDS = 3, 500
# With fewer rounds, no interval contains the median with this probability.
CONFIDENCE = 0.95
# A smaller change is not reported as one, because environments differ in length.
SMALLEST = 0.001

NR_PERF_EVENT_OPEN = 298
PERF_ATTR_SIZE = 128
PERF_COUNT_HW_INSTRUCTIONS = 1
# Flags of struct perf_event_attr: disabled, inherit, exclude_hv, enable_on_exec.
PERF_FLAGS = 1 << 0 | 1 << 1 | 1 << 6 | 1 << 12
PERF_FLAG_FD_CLOEXEC = 8


def printable(text):
    """Return a text for people, in which names of files may have control characters that a terminal obeys."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def fail(what, why, hint=None, status=OWN_FAILURE):
    """Print a message and exit."""
    print(printable(f"cosy compare: {what}: {why}"), file=sys.stderr)
    if hint:
        print(f"  HINT: {hint}", file=sys.stderr)
    sys.exit(status)


class Counter:
    """Counts the instructions of a child process and its descendants, in user and kernel mode."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, pid):
        # type, size, config, sample_period, sample_type, read_format, flags
        attributes = struct.pack("=IIQQQQQ", 0, PERF_ATTR_SIZE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0, 0,
                                 PERF_FLAGS).ljust(PERF_ATTR_SIZE, b"\0")
        self.fd = self.libc.syscall(NR_PERF_EVENT_OPEN, attributes, pid, -1, -1,
                                    PERF_FLAG_FD_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def read(self):
        """Return the count, and close the counter."""
        count = struct.unpack("=Q", os.read(self.fd, 8))[0]
        os.close(self.fd)
        return count

    @classmethod
    def missing(cls):
        """Return why instructions cannot be counted, or None."""
        try:
            cls(os.getpid()).read()
        except PermissionError:
            return ("/proc/sys/kernel/perf_event_paranoid does not allow counting them in the "
                    "kernel: it has to be 1 or less, or run this as root")
        except OSError:
            return "this machine has no counters of instructions, like most virtual machines"
        return None


def plain_environment():
    """Return the environment without what chooses how the command is executed. Below `cosy run` that is the
    library, too."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ("COSY_EXECUTOR", "COSY_STATS", "LD_PRELOAD")}
    libraries = [name for name in re.split("[: ]", os.environ.get("LD_PRELOAD", ""))
                 if name and os.path.basename(name) != "libcosy-preload.so"]
    if libraries:
        plain["LD_PRELOAD"] = ":".join(libraries)
    return plain


class Way:
    """A way to execute the command: natively, as it was compiled, or with cosy run."""

    def __init__(self, name, changes):
        self.name = name
        self.environment = plain_environment() | changes
        self.runs = []


def has_regions(path):
    """Return true if an executable contains libcosy, or is linked with it."""
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return data.find(b"cosy_regions\0") >= 0 or data.find(b"libcosy.so") >= 0
    except OSError:
        return False


def digest(file):
    """Return the size and a hash of a file from its position on. It may be larger than the memory."""
    size, found = 0, hashlib.sha256()
    while chunk := file.read(1 << 20):
        size += len(chunk)
        found.update(chunk)
    return [size, found.hexdigest()]


def describe_tree(root):
    """Return the files below a path: name to type, mode, and a hash of the contents."""
    files = {}

    def add(path):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return
        about = [stat.filemode(status.st_mode), status.st_uid, status.st_gid]
        if stat.S_ISLNK(status.st_mode):
            about.append(os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            with open(path, "rb") as file:
                about += digest(file)
        files[path] = about

    add(root)
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            add(os.path.join(directory, name))
    return files


def listing(paths):
    """Return the state of files, and of the entries of those that are directories: type, size, times."""
    found = {}
    for path in paths:
        names = [path]
        try:
            names += [os.path.join(path, name) for name in os.listdir(path)]
        except OSError:
            pass
        for name in names:
            try:
                status = os.lstat(name)
            except OSError:
                continue
            found[name] = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns,
                           status.st_ctime_ns)
    return found


class Comparison:
    """Runs the ways in turn, and compares and measures the runs."""

    def __init__(self, command, ways, arguments, directory=None):
        self.command, self.ways, self.arguments = command, ways, arguments
        self.directory = directory
        self.no_counter = None if arguments.icount else Counter.missing()
        self.differences = []
        self.unstable = False
        # Files that the first run has changed, although nothing makes them again before each run.
        self.side_effects = []

    def run_once(self, way):
        """Run the command in a way. Return what it did and what that took."""
        if self.arguments.prepare:
            done = subprocess.run(["/bin/sh", "-c", self.arguments.prepare], cwd=self.directory,
                                  stdin=subprocess.DEVNULL, check=False)
            if done.returncode:
                fail(self.arguments.prepare, f"failed with status {done.returncode}")
        outputs = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        stdin = os.open(self.arguments.input or os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        ready, go = os.pipe()
        error, failed = os.pipe()
        begin = time.monotonic_ns()
        child = os.fork()
        if not child:
            os.close(go)
            self.execute(way, ready, failed, stdin, outputs)
        for fd in (ready, failed, stdin):
            os.close(fd)
        try:
            counter = None if self.arguments.icount or self.no_counter else Counter(child)
            os.write(go, b"x")
        finally:
            os.close(go)
        with open(error, "rb") as file:
            # Exec closes the other end, so there is no text if it succeeds.
            why = file.read().decode()
        _, status, usage = os.wait4(child, 0)
        if why:
            fail(self.command[0], why, status=os.waitstatus_to_exitcode(status))
        run = {"wall": time.monotonic_ns() - begin,
               "cpu": round(1e9 * (usage.ru_utime + usage.ru_stime))}
        if counter:
            run["instructions"] = counter.read()
        elif self.arguments.icount:
            # One nanosecond of the guest is one instruction.
            run["instructions"] = run["cpu"]
        run["status"] = os.waitstatus_to_exitcode(status)
        run["output"] = []
        for file in outputs:
            with file:
                file.seek(0)
                run["output"].append(digest(file))
        run["files"] = {path: about for root in self.arguments.files
                        for path, about in describe_tree(root).items()}
        return run

    def execute(self, way, ready, failed, stdin, outputs):
        """In the child: wait until it is counted, and execute the command, unless the parent has ended."""
        status = OWN_FAILURE
        try:
            for name in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(name, signal.SIG_DFL)
            if not os.read(ready, 1):
                return
            for number, fd in enumerate([stdin] + [file.fileno() for file in outputs]):
                os.dup2(fd, number)
            if self.directory:
                os.chdir(self.directory)
            os.execvpe(self.command[0], self.command, way.environment)
        except OSError as error:
            os.write(failed, error.strerror.encode())
            status = 127 if isinstance(error, FileNotFoundError) else 126
        finally:
            os._exit(status)

    def compare(self, way, run, native):
        """Note what differs between a run and a native one."""
        if run["status"] != native["status"]:
            self.note(f"{way.name}: status {run['status']}, natively {native['status']}")
        for name, mine, other in zip(("standard output", "standard error"), run["output"],
                                     native["output"]):
            if mine != other:
                self.note(f"{way.name}: {name} differs: {mine[0]} bytes, natively {other[0]}")
        for path in sorted(run["files"].keys() | native["files"].keys()):
            if run["files"].get(path) != native["files"].get(path):
                self.note(f"{way.name}: {path} differs")

    def note(self, text):
        if text not in self.differences:
            self.differences.append(text)

    def is_enough(self, rounds, seconds):
        """Return true if no further round is needed after some rounds, which took some time."""
        if self.arguments.runs or rounds < 3:
            return rounds == self.arguments.runs
        if seconds > SECONDS or rounds >= MAX_ROUNDS:
            return True
        return rounds >= ROUNDS and (self.arguments.icount or seconds > SHORT_SECONDS)

    def run_first(self):
        """Make the first native run, and note which files it changes: those in the working directory, those
        that arguments name, and those that are compared."""
        directory = self.directory or ""
        paths = [directory or "."]
        paths += [os.path.join(directory, argument) for argument in self.command[1:]]
        paths += [name for root in self.arguments.files for name, _, _ in os.walk(root)]
        before = {} if self.arguments.prepare else listing(paths)
        run = self.run_once(self.ways[0])
        after = {} if self.arguments.prepare else listing(paths)
        changed = {os.path.normpath(path) for path in before.keys() | after.keys()
                   if before.get(path) != after.get(path)}
        # That a directory changes is of interest if nothing in it is known to.
        self.side_effects = sorted(changed - {os.path.dirname(path) or "." for path in changed})
        return run

    def run(self):
        """Run every way in turn until there are enough runs."""
        native = self.run_first()
        again = self.run_once(self.ways[0])
        # What differs between native runs, such as a time, cannot be compared.
        unstable = {key for key in ("status", "output", "files") if native[key] != again[key]}
        self.unstable = sorted(unstable)
        begin = time.monotonic()
        # The first runs fill the caches and are not counted.
        for number in itertools.count(-1):
            if self.is_enough(number, time.monotonic() - begin):
                break
            order = self.ways if number % 2 else self.ways[::-1]
            for way in order:
                run = self.run_once(way)
                if way is not self.ways[0]:
                    for key in unstable:
                        run[key] = native[key]
                    self.compare(way, run, native)
                if number >= 0:
                    way.runs.append(run)
        return not self.differences


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values):
    """Return an interval that contains the median with the probability CONFIDENCE, whatever the
    distribution is; None if there are too few values."""
    values, count = sorted(values), len(values)
    outside, skipped = 0.0, 0
    for k in range(count // 2):
        outside += 2 * math.comb(count, k) / 2 ** count
        if outside > 1 - CONFIDENCE:
            break
        skipped = k + 1
    if not skipped:
        return None
    return values[skipped - 1], values[count - skipped]


def change(way, native, metric):
    """Return the relative change of a metric, its interval, and a verdict."""
    ratios = [run[metric] / max(1, other[metric]) - 1
              for run, other in zip(way.runs, native.runs)]
    spread, middle = interval(ratios), median(ratios)
    if not spread:
        verdict = "too few runs for a verdict"
    elif spread[1] < 0 and middle < -SMALLEST:
        verdict = "gains"
    elif spread[0] > 0 and middle > SMALLEST:
        verdict = "loses"
    else:
        verdict = "the difference is noise"
    return middle, spread, verdict


METRICS = (("instructions", "million instructions", 1e6), ("cpu", "ms of CPU time", 1e6),
           ("wall", "ms of wall time", 1e6))


def warnings(comparison):
    """Return sentences about what the figures do not say."""
    result = []
    if comparison.no_counter:
        result.append(f"instructions are not counted: {comparison.no_counter}")
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    # The command itself is part of the load.
    if load > processors / 2 + 1 and not comparison.arguments.icount:
        result.append(f"the machine is busy (load {load:.1f}, {processors} processors): times are "
                      "not reliable")
    if comparison.unstable:
        result.append("not compared, because it differs between native runs: "
                      + ", ".join(comparison.unstable))
    if comparison.side_effects:
        changed = comparison.side_effects
        result.append("the command changes files, so each run may begin with other ones than the first: "
                      + ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
                      + "; --prepare can make them as they were")
    if comparison.ways[0].runs and comparison.ways[0].runs[0]["status"]:
        result.append(f"the command fails (status {comparison.ways[0].runs[0]['status']})")
    return result


def figures(comparison):
    """Return the results as they are in the JSON output."""
    native = comparison.ways[0]
    ways = []
    for way in comparison.ways:
        about = {"name": way.name, "status": way.runs[0]["status"]}
        for metric, _, _ in METRICS:
            if metric not in way.runs[0]:
                continue
            values = [run[metric] for run in way.runs]
            about[metric] = {"median": median(values), "least": min(values), "most": max(values),
                             "runs": values}
            if way is not native:
                middle, spread, verdict = change(way, native, metric)
                about[metric] |= {"change": middle, "interval": spread, "verdict": verdict}
        ways.append(about)
    return {"version": 1, "command": comparison.command, "same": not comparison.differences,
            "differences": comparison.differences, "warnings": warnings(comparison), "ways": ways}


def percent(value):
    """A change as text: "−31.0 %"."""
    return f"{100 * value:+.1f} %".replace("-", "−")


def print_report(result, file):
    """Print the results of one command."""
    for metric, unit, scale in METRICS:
        rows = [way for way in result["ways"] if metric in way]
        if not rows:
            continue
        print(f"{unit}:", file=file)
        for way in rows:
            of = way[metric]
            text = (f"  {way['name']:10} {of['median'] / scale:12.2f}   "
                    f"({of['least'] / scale:.2f} to {of['most'] / scale:.2f}, "
                    f"{len(of['runs'])} runs)")
            if "change" in of:
                text += f"   {percent(of['change'])}"
                if of["interval"]:
                    text += f" ({percent(of['interval'][0])} to {percent(of['interval'][1])})"
                text += f": {of['verdict']}"
            print(text, file=file)
    for text in result["warnings"]:
        print(f"warning: {printable(text)}", file=file)
    if result["same"]:
        print("The outputs, statuses and files are the same.", file=file)
    else:
        print("DIFFERENT from the native runs:", file=file)
        for text in result["differences"]:
            print(f"  {printable(text)}", file=file)


def library(command, arguments):
    """Return the value of LD_PRELOAD with which cosy run executes a command; "" if the command would not
    load the library. And return why."""
    own = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "cosy")
    done = subprocess.run([own, "run", "--print", "--", *command], text=True, errors="surrogateescape",
                          env=plain_environment() | {"COSY_DEBUG": "1"}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
        sys.exit(done.returncode)
    value = done.stdout.strip()
    why = done.stderr.strip().removeprefix(f"cosy: {command[0]}: ")
    if not arguments.icount or not value:
        return value, why
    # The VM's /tmp is its own, and faster than the files that it shares with the host.
    path = value.split(":")[-1].replace("$LIB", "lib/x86_64-linux-gnu")
    return shutil.copy(path, os.path.join(arguments.scratch, os.path.basename(path))), why


def ways_of(command, arguments):
    """Return the ways to compare for a command, the native one first, and why there is no other one if Cosy
    does not change it."""
    path = shutil.which(command[0])
    ways = [Way("native", {"COSY_EXECUTOR": "native"})]
    if has_regions(path):
        ways.append(Way("regions", {}))
    preload, why = library(command, arguments)
    if preload:
        ways.append(Way("cosy run", {"LD_PRELOAD": preload}))
    return ways, f"{why}, and it has no regions"


def need_module():
    """End with a message if no program could use the module."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENXIO)
        fail(f"cannot open {DEVICE}",
             "module not loaded (try: sudo modprobe cosy; see cosy(4))" if missing else error.strerror,
             "in a checkout, ./cosy compare --vm measures in a VM")


# Nine programs of README.md's table: the command, what is executed before each run, and the files
# that are compared. test/tools/compare-suite.test compares this with that table.
SUITE = {
    "du -s": (["du", "-s", "tree"], None, None),
    "find -newer": (["find", "tree", "-newer", "reference"], None, None),
    "git status -uno": (["git", "-C", "repository", "-c", "core.preloadIndex=false", "status",
                         "-uno"], "git -C repository update-index -q --refresh", None),
    "tar cf -": (["tar", "cf", "-", "tree"], None, None),
    "ls -lR": (["ls", "-lR", "tree"], None, None),
    "grep -rc": (["grep", "-rc", "file 1", "tree"], None, None),
    "cp -r": (["cp", "-r", "tree", "new"], "rm -rf new", "new"),
    # The order of objects in its packs is not always the same.
    "git gc": (["git", "-C", "new", "gc", "-q"], "rm -rf new && cp -r repository new", None),
    # What each program pays that is not in cosy run's list of short ones.
    "./start": (["./start"], None, None),
}
FILES, FOLDERS = 3200, 32


def make_suite_files(directory):
    """Make the files of the suite: small files in folders, a repository of them, an older file, and a
    program that only starts."""
    tree = os.path.join(directory, "tree")
    for i in range(FOLDERS):
        os.makedirs(os.path.join(tree, f"folder-{i}"))
        for j in range(FILES // FOLDERS):
            with open(os.path.join(tree, f"folder-{i}", f"file-{j}.txt"), "w",
                      encoding="ascii") as file:
                print("file", i, j, file=file)
    reference = os.path.join(directory, "reference")
    with open(reference, "w", encoding="ascii"):
        pass
    os.utime(reference, (time.time() - 3600,) * 2)
    shutil.copy("/bin/true", os.path.join(directory, "start"))
    if shutil.which("git"):
        repository = os.path.join(directory, "repository")
        shutil.copytree(tree, repository)
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
            done = subprocess.run(["git", "-C", repository, *command], check=False)
            if done.returncode:
                fail(f"git {command[0]}", f"failed with status {done.returncode}")
    os.sync()


def file_system(directory):
    """Return the type of the file system of a directory."""
    done = subprocess.run(["stat", "-f", "-c", "%T", directory], text=True,
                          stdout=subprocess.PIPE, check=False)
    return done.stdout.strip() or "unknown"


def processor():
    """Return the name of the processor, and whether it is that of a virtual machine."""
    name, place = platform.machine(), ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
            elif line.startswith("flags") and "hypervisor" in line.split():
                place = " in a virtual machine"
    return name + place


def set_suite_environment():
    """Leave only what the programs need, so that they do the same for everybody."""
    for name in set(os.environ) - {"PATH", "HOME", "TMPDIR"}:
        if not name.startswith("COSY_"):
            del os.environ[name]
    os.environ.update({
        "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "suite", "GIT_AUTHOR_EMAIL": "suite@localhost",
        "GIT_COMMITTER_NAME": "suite", "GIT_COMMITTER_EMAIL": "suite@localhost"})


def measure_program(name, directory, arguments):
    """Measure a program of the suite. Return the results, or why there are none."""
    command, prepare, files = SUITE[name]
    ways, why = [], f"{command[0]} is not installed"
    path = shutil.which(os.path.join(directory, command[0]) if "/" in command[0] else command[0])
    if path:
        ways, why = ways_of([path, *command[1:]], arguments)
    if len(ways) < 2:
        return {"version": 1, "command": command, "skipped": why}
    arguments.prepare = prepare
    arguments.files = [os.path.join(directory, files)] if files else []
    comparison = Comparison(command, ways, arguments, directory)
    comparison.run()
    return figures(comparison)


def run_suite(arguments):
    """Measure the programs of the suite. Return the results, by program."""
    set_suite_environment()
    results = {}
    with tempfile.TemporaryDirectory(prefix="cosy-compare-", dir=arguments.directory) as directory:
        make_suite_files(directory)
        for name in SUITE:
            results[name] = measure_program(name, directory, arguments)
            print(f"{name}: {results[name].get('skipped', 'measured')}", file=sys.stderr)
    return results


def print_suite(results, arguments, file):
    """Print a table that can be pasted into a report."""
    print(f"Cosy {RELEASE}, Linux {platform.release()}, {processor()}, "
          f"{FILES} small files on {file_system(arguments.directory)}, everything cached", file=file)
    measured = {name: result for name, result in results.items() if "ways" in result}
    for metric, unit, scale in METRICS:
        if not any(metric in result["ways"][0] for result in measured.values()):
            continue
        print(f"\nWhole processes, medians in {unit}:\n\n"
              "| program | native | `cosy run` | change | 95 % interval | |\n|---|---|---|---|---|---|",
              file=file)
        for name, result in measured.items():
            native, cosy = result["ways"][0][metric], result["ways"][-1][metric]
            spread = cosy["interval"]
            print(f"| `{name}` | {native['median'] / scale:.2f} | {cosy['median'] / scale:.2f} | "
                  f"{percent(cosy['change'])} | "
                  + (f"{percent(spread[0])} to {percent(spread[1])}" if spread else "–")
                  + f" | {cosy['verdict']} |", file=file)
    print(file=file)
    for name, result in results.items():
        if "skipped" in result:
            print(f"not measured: {name}: {result['skipped']}", file=file)
    for text, names in group_by_warning(measured).items():
        programs = "" if len(names) == len(measured) else ", ".join(names) + ": "
        print(f"warning: {programs}{printable(text)}", file=file)
    different = [(name, text) for name, result in measured.items()
                 for text in result["differences"]]
    for name, text in different:
        print(f"DIFFERENT: {name}: {printable(text)}", file=file)
    if not different:
        print("The outputs, statuses and files are the same.", file=file)


def group_by_warning(results):
    """Return the programs that each warning is about."""
    groups = {}
    for name, result in results.items():
        for text in result["warnings"]:
            groups.setdefault(text, []).append(name)
    return groups


class Parser(argparse.ArgumentParser):
    def error(self, message):
        fail("arguments", message, "cosy compare --help")


def parse():
    parser = Parser(
        prog="cosy compare", usage="cosy compare [OPTION...] [--] COMMAND [ARGUMENT...]\n"
        "       cosy compare --suite [OPTION...]", add_help=False,
        description="Run COMMAND natively and with Cosy in turn, compare what it does, and measure "
        "it. See cosy-compare(1).")
    add = parser.add_argument
    add("-h", "--help", action="help", help="print this text")
    add("--version", action="version", version=f"cosy-compare {RELEASE}")
    add("-n", "--runs", type=int, metavar="N",
        help=f"rounds of runs (default: {ROUNDS}, more within {SHORT_SECONDS} s, none after "
        f"{SECONDS} s)")
    add("-p", "--prepare", metavar="SCRIPT",
        help="have the shell execute SCRIPT before each run; it is not measured")
    add("-f", "--files", action="append", default=[], metavar="PATH",
        help="compare PATH, and what is below it, after each run; may be repeated")
    add("-i", "--input", metavar="FILE", help="standard input of COMMAND (default: empty)")
    add("-o", "--output", metavar="FILE", help="write the report to FILE")
    add("--json", metavar="FILE", help="write all figures to FILE; - is standard output")
    add("--suite", action="store_true",
        help="measure nine programs of README.md's table, and print such a table")
    add("-d", "--directory", metavar="DIR",
        help="where --suite makes its files (default: the current directory)")
    # For ./cosy compare --vm: CPU times are numbers of instructions. Before the VM boots, the arguments
    # are checked.
    add("--icount", action="store_true", help=argparse.SUPPRESS)
    add("--check-arguments", action="store_true", help=argparse.SUPPRESS)
    add("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.command[:1] == ["--"]:
        del arguments.command[0]
    if bool(arguments.command) == arguments.suite:
        parser.error("either a command or --suite is needed")
    if arguments.runs is not None and arguments.runs < 1:
        parser.error("--runs: at least 1")
    if arguments.suite and (arguments.prepare or arguments.files or arguments.input):
        parser.error("--suite prepares its own files")
    if not arguments.directory:
        # The VM's /tmp is its own; it shares the current directory with the host.
        arguments.directory = "/tmp" if arguments.icount else "."
    return arguments


def open_output(path):
    """Open a file to write to. Fail before anything is measured."""
    if path == "-":
        return sys.stdout
    try:
        return open(path, "w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        return fail(path, error.strerror)


def main():
    # Names of files are bytes, and the terminal may not have all characters.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    arguments = parse()
    # A program that is ended this way removes its files, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if arguments.command and not shutil.which(arguments.command[0]):
        fail(arguments.command[0], "command not found", status=127)
    if arguments.input and not os.path.isfile(arguments.input):
        fail(arguments.input, "is not a file")
    if not os.path.isdir(arguments.directory):
        fail(arguments.directory, "is not a directory")
    if arguments.check_arguments:
        return
    output = open_output(arguments.output) if arguments.output else sys.stdout
    as_json = open_output(arguments.json) if arguments.json else None
    need_module()
    with tempfile.TemporaryDirectory(prefix="cosy-compare-") as arguments.scratch:
        if arguments.suite:
            result = run_suite(arguments)
            same = all(of.get("same", True) for of in result.values())
        else:
            ways, why = ways_of(arguments.command, arguments)
            if len(ways) < 2:
                fail(arguments.command[0], why)
            comparison = Comparison(arguments.command, ways, arguments)
            same = comparison.run()
            result = figures(comparison)
    if as_json:
        json.dump(result, as_json, indent=1)
        print(file=as_json, flush=True)
    if as_json is not sys.stdout:
        if arguments.suite:
            print_suite(result, arguments, output)
        else:
            print_report(result, output)
        output.flush()
    sys.exit(0 if same else DIFFERENT)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        fail(error.filename or "output", error.strerror)
