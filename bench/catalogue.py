# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmarks, the ways to run them, and the goals."""

from dataclasses import dataclass

FIT = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256)
OPERATIONS = ("add", "sub", "xor", "mov", "load", "store", "branch", "loop")


@dataclass(frozen=True)
class Bench:
    """A row of the table.

    name:    the name on the command line and in the JSON
    program: the program in build/bench; None if host.py measures it
    ways:    the ways to run it
    points:  names of the program's benchmarks, if there are several
    fs:      its file system; disk: on a disk whose requests take 50 us
    """

    name: str
    program: str = None
    ways: tuple = ("native", "compound")
    points: tuple = ()
    fs: str = "ext4"

    def programs_benches(self):
        return self.points or (self.name,)

    @property
    def asynchronous(self):
        """True if it measures operations or functions of a loop."""
        return "entries" in self.ways or "functions" in self.ways

    @property
    def timed(self):
        """True if the times of its ways can be compared."""
        return len(self.ways) > 1 and not self.asynchronous

    @property
    def on_host(self):
        """True if it is also timed natively on this machine."""
        return self.name in CALLS or (self.name.startswith(("ls5000", "copy"))
                                      and not self.name.endswith("-l"))

    @property
    def in_table(self):
        """True if it is in the table of all ways. fit has a table of its own."""
        return (self.program and "native" in self.ways and self.name != "fit"
                and not self.asynchronous)


# "compound" makes plain system calls, "fast" also uses fast paths.
ALL = ("native", "compound", "fast", "bound", "io_uring")
NO_RING = ("native", "compound", "fast", "bound")
WHOLE = ("native", "compound", "fast")
# Operations of a loop: by plain calls or epoll, by the user executor, by the module (the default),
# and by io_uring.
ASYNC = ("native", "user", "entries", "io_uring")
ASYNC_CALLS = ("page1", "page64", "cpu1", "cpu64", "statx1", "statx64", "wait-cancel",
               "handover", "handover64")
# "functions": by COSY_ASYNC functions, in batches.
SERVERS = (*ASYNC, "functions")
# "module": by COSY_ASYNC functions in the module, which call a COSY_FUNCTION.
CACHES = (*SERVERS, "module")
# open, fstat, read and close of a cached file. io_uring has no operation that does the same.
FILES = ("file1", "file64")
# A server that answers by a file. The functions make these calls themselves.
SERVE_FILES = ("serve-file-64", "serve-file-1")
# First those that users have: the client is another process, or other connections are active each
# time.
CACHE = ("cache-unix-64", "cache-unix-1", "cache-tcp-64", "cache-tcp-1")
ECHO = (*CACHE, "echo-process-64", "echo-process-1", "echo-random-16", "echo-changed-64",
        "echo-unix-64", "echo-unix-1", "echo-unix-1024", "echo-tcp-64")
BONNIE = ("read", "rewrite", "write")
# User functions, and their goals in percent of the same C compiled by gcc -O2.
FUNCTIONS = {"crc32": 130, "adler32": 130,
             **dict.fromkeys(("byte", "word", "utf8", "lines", "set", "fields", "hash"), 220)}


def _sizes(name, *sizes):
    return tuple(f"{name}-{size}" for size in sizes)


BENCHES = (
    Bench("getpid", "getpid", NO_RING),
    Bench("pread64", "pread", ALL),
    Bench("pread4096", "pread", ALL),
    Bench("newfstatat", "stat", ALL),
    Bench("openclose", "openclose", ALL),
    Bench("stat", "stat", ALL),
    Bench("smallfile", "smallfile", ALL),
    Bench("lseekread", "lseekread", ALL),
    Bench("ls5000", "ls5000", ALL, fs="tmpfs"),
    Bench("ls5000-ext4", "ls5000", ALL),
    Bench("ls50000", "ls5000", ALL, fs="tmpfs"),
    Bench("ls5000-l", "process", WHOLE, fs="tmpfs"),
    Bench("ls50000-l", "process", WHOLE, fs="tmpfs"),
    Bench("ls0-l", "process", WHOLE, fs="tmpfs"),
    Bench("copy4k", "copy", ALL, fs="tmpfs"),
    Bench("copy64k", "copy", ALL, fs="tmpfs"),
    Bench("copy4k-ext4", "copy", ALL),
    Bench("copy64k-ext4", "copy", ALL),
    *(Bench(f"bonnie-{phase}", "bonnie", ALL, fs="tmpfs") for phase in BONNIE),
    Bench("bonnie-sizes", "bonnie", ALL,
          tuple(p for phase in BONNIE for p in _sizes(f"bonnie-{phase}", "4M", "64M", "256M")),
          "tmpfs"),
    Bench("dbsim", "dbsim", ALL, fs="tmpfs"),
    Bench("dbsim-function", "dbsim", NO_RING, fs="tmpfs"),
    Bench("dbsim-sizes", "dbsim", ALL,
          _sizes("dbsim", "1M", "4M", "64M", "256M", "2p", "4p"), "tmpfs"),
    Bench("grep", "process", WHOLE, fs="tmpfs"),
    Bench("grep-kernel", "process", WHOLE, fs="tmpfs"),
    Bench("grep-sizes", "process", WHOLE, _sizes("grep", "128K", "512K", "20M", "200M"), "tmpfs"),
    Bench("entry", "entry", ("native", "compound"), ("entry", "entry-6")),
    Bench("upcall", "upcall", points=("upcall", "upcall-200")),
    Bench("ioctl", "upcall", ("native",)),
    Bench("mutex", "mutex", ("native", "compound")),
    *(Bench(f"fn-{name}", "functions") for name in FUNCTIONS),
    Bench("op", "op", ("compound",), ("op",) + tuple("op-" + o for o in OPERATIONS)),
    Bench("load", "load", ("compound",)),
    Bench("fit", "fit", NO_RING, tuple(f"fit{n}" for n in FIT)),
    *(Bench(name, "async", ASYNC) for name in ASYNC_CALLS),
    *(Bench(name, "async", ("native", "user", "entries", "functions"), fs="tmpfs")
      for name in FILES),
    Bench("read-cold", "async", ASYNC, fs="disk"),
    *(Bench(name, "echo", ("native", "functions"), fs="tmpfs") for name in SERVE_FILES),
    *(Bench(name, "echo", CACHES if name in CACHE else SERVERS) for name in ECHO),
    Bench("interpreter"),
    Bench("native-overhead"),
    Bench("compile"),
)

# The experiments of the Cosy paper, its figures 2 to 7, and single operations that save more
# than a crossing.
COSY = ("getpid", "pread64", "pread4096", "fit", "dbsim", "dbsim-function", "dbsim-sizes",
        *(f"bonnie-{phase}" for phase in BONNIE), "bonnie-sizes", "ls5000", "ls5000-ext4", "ls50000",
        "ls5000-l", "ls50000-l", "ls0-l", "grep", "grep-kernel", "grep-sizes", "stat", "smallfile",
        "lseekread", "copy4k", "copy64k", "copy4k-ext4", "copy64k-ext4")


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper, and what it could save at most.

    paper:     percentages that the paper saved: compound, zero copy
    crossings: number of crossings in an iteration
    copies:    number of needless copies of 4 KiB in an iteration
    """

    name: str
    paper: str
    crossings: float
    copies: int = 0


PAPER = (
    Experiment("fit256", "12 to 90", 256),
    Experiment("dbsim", "26, 64", 2.5, 1),
    Experiment("bonnie-read", "-, 80", 1, 1),
    Experiment("bonnie-rewrite", "-, 30 to 90", 3, 1),
    Experiment("bonnie-write", "45 to 90, -", 1),
    Experiment("ls5000", "8, 85", 1),
    Experiment("ls5000-l", "8, 85", 1),
    Experiment("grep", "13, 20", 5),
)

# Seconds of the measurements that take longer than usual, on an idle machine.
SECONDS = {"ls50000": 2, "ls50000-l": 3, "grep-200M": 12, "native-overhead": 10, "compile": 8,
           **{f"bonnie-{phase}-64M": 1 for phase in BONNIE},
           **{f"bonnie-{phase}-256M": 4 for phase in BONNIE},
           **{f"dbsim-{of}": 2 for of in ("1M", "4M", "64M", "2p", "4p")}, "dbsim-256M": 4}


def seconds(name):
    return SECONDS.get(name, 0.5)


# Names of groups of benchmarks.
GROUPS = {"cosy": COSY, "async": (*ASYNC_CALLS, *FILES, "read-cold", *SERVE_FILES, *ECHO),
          "functions": tuple(f"fn-{name}" for name in FUNCTIONS)}

# The loops of bench/programs/interpreter.c, and the best ns per iteration of other interpreters
# for the same loops. These were measured once; docs/benchmarks.md explains how.
INTERPRETED = {
    "sieve": {"wasm3": 19.6, "ubpf": 67.9, "rbpf": 306},
    "collatz": {"wasm3": 351, "ubpf": 1110, "rbpf": 1347},
    "fnv": {"wasm3": 2.46, "ubpf": 17.1, "rbpf": 21.8},
}

# System calls in one iteration, for benchmarks whose bound gives the overhead of the compound.
CALLS = {"getpid": 1, "pread64": 1, "pread4096": 1, "newfstatat": 1, "openclose": 2}


@dataclass(frozen=True)
class Goal:
    """A goal: value(results) must be at most limit. It is None if it was not measured."""

    text: str
    limit: float
    unit: str
    value: object


def over_bound(results, name):
    """Return the overhead of the compound per call, without the operation of its loop; None if
    unknown."""
    if not (results.has(name, "compound") and results.has(name, "bound")
            and results.has("op-loop", "compound")):
        return None
    return (
        results.best(name, "compound") - results.best("op-loop", "compound")
        - results.best(name, "bound")
    ) / CALLS[name]


def _over_bound(results):
    return max((over for name in CALLS if (over := over_bound(results, name)) is not None),
               default=None)


def _entry(results):
    """Return the overhead of the compound in the loop, without the cost of its three operations."""
    ways = ("compound", "native")
    if not all(results.has(name, way) for name in ("entry", "entry-6") for way in ways):
        return None
    # The additional three operations of entry-6 cost as much as the three of entry.
    compound, native = (2 * results.best("entry", way) - results.best("entry-6", way)
                        for way in ways)
    return compound - native


def _upcall(results):
    """Return the cost of an up-call in percent of an empty ioctl."""
    if not (results.has("upcall", "compound") and results.has("ioctl", "native")):
        return None
    return 100 * results.best("upcall", "compound") / results.best("ioctl", "native")


def _five_getpids(results):
    if not (results.has("fit5", "compound") and results.has("fit5", "native")):
        return None
    return 100 * results.best("fit5", "compound") / results.best("fit5", "native")


def _share(name, other="native", way="fast"):
    """Return a function for the cost of one way in percent of another one."""
    def value(results):
        if not (results.has(name, way) and results.has(name, other)):
            return None
        return 100 * results.best(name, way) / results.best(name, other)
    return value


def _share_after_start(name, files, start):
    """Return a function for the cost of the fast way in percent of native, both without START, the
    figure of a process that lists nothing. It depends on the C library."""
    def value(results):
        if not all(results.has(of, way) for of in (name, start) for way in ("fast", "native")):
            return None
        fast, native = (files * results.best(name, way) - results.best(start, way)
                        for way in ("fast", "native"))
        return 100 * fast / native
    return value


def _figure(name, way, where="icount"):
    return lambda results: results.best(name, way, where) if results.has(name, way, where) else None


def native_overhead(results, name):
    """Return the overhead of a native run in percent."""
    return 100 * (results.best(name, "compound", "host") / results.best(name, "native", "host") - 1)


def compile_cost(results):
    """Return the time that the plugin adds to a compilation, in milliseconds."""
    return 1e-6 * (results.best("compile", "compound", "host")
                   - results.best("compile", "native", "host"))


def _overhead(results):
    return max((native_overhead(results, name) for name in results.names("native-overhead")),
               default=None)


def _compile_cost(results):
    return compile_cost(results) if results.has("compile", "compound", "host") else None


# Operations and functions of loops: in percent of epoll, or of the plain call.
ASYNC_OF_NATIVE = (("page1", "entries", 141), ("page64", "entries", 55),
                   ("statx1", "entries", 76), ("statx64", "entries", 55),
                   ("wait-cancel", "entries", 185), ("serve-file-64", "functions", 76),
                   ("serve-file-1", "functions", 107), ("cache-unix-64", "entries", 83),
                   ("echo-changed-64", "functions", 90), ("echo-unix-64", "entries", 84),
                   ("echo-unix-64", "functions", 87), ("echo-unix-1", "entries", 101),
                   ("echo-unix-1", "functions", 101))

# In percent.
FAST_OF_NATIVE = {"stat": 70, "smallfile": 65, "lseekread": 75, "ls5000": 42, "ls5000-ext4": 58,
                  "ls0-l": 112, "copy4k": 65, "copy64k": 65}

GOALS = (
    Goal("getpid in a counted loop", 180, "instructions", _figure("getpid", "compound")),
    Goal("getpid in a counted loop, of its bound", 110, "%",
         _share("getpid", "bound", "compound")),
    Goal("a simple operation", 8, "instructions", _figure("op", "compound")),
    Goal("a system call, over the bound (*)", 30, "instructions", _over_bound),
    Goal("entering and leaving (*)", 560, "instructions", _entry),
    Goal("an up-call, of an empty ioctl", 130, "%", _upcall),
    Goal("5 getpids, of their native cost", 100, "%", _five_getpids),
    *(Goal(f"{name}, fast, of native", limit, "%", _share(name))
      for name, limit in FAST_OF_NATIVE.items()),
    Goal("ls5000-l without its start, fast, of native", 56, "%",
         _share_after_start("ls5000-l", 5000, "ls0-l")),
    *(Goal(f"{name}, fast, of its bound", 110, "%", _share(name, "bound"))
      for name in ("dbsim", "dbsim-function")),
    *(Goal(f"{name} in a user function, of gcc -O2", limit, "%",
           _share(f"fn-{name}", way="compound")) for name, limit in FUNCTIONS.items()),
    *(Goal(f"{name}, {way}, of native", limit, "%", _share(name, way=way))
      for name, way, limit in ASYNC_OF_NATIVE),
    Goal("loading, per operation", 5000, "instructions = ns", _figure("load", "compound")),
    Goal("a simple operation, in user mode", 3, "ns", _figure("op", "user", "host")),
    Goal("the plugin, file without regions", 10, "ms", _compile_cost),
    Goal("a native run, over no markers", 1, "%", _overhead),
)


class _Asked:
    """Stands for results, and notes which counts of instructions are asked for."""

    def __init__(self):
        self.figures = set()

    def has(self, name, way, where="icount"):
        if where == "icount":
            self.figures.add((name, way))
        return where == "icount"

    def best(self, _name, _way, _where="icount"):
        return 1.0

    def names(self, _prefix):
        return []


def gate():
    """Return what the regression gate measures: name and way of each figure that a goal uses."""
    asked = _Asked()
    for goal in GOALS:
        goal.value(asked)
    return asked.figures
