# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be measured: the benchmarks, their ways, and the figures to reach."""

from dataclasses import dataclass

FIT = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256)
OPERATIONS = ("add", "sub", "xor", "mov", "load", "store", "branch", "loop")


@dataclass(frozen=True)
class Bench:
    """A row of the table.

    name:    as on the command line and in the JSON
    program: in build/bench; None if it is measured by host.py itself
    ways:    that exist for it
    points:  names of the program's benchmarks, if there is more than the one
    fs:      the file system it works on; disk: on a disk whose requests take 50 us
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
        """True if it measures operations of a loop."""
        return "loops" in self.ways

    @property
    def timed(self):
        """True if there is a time to compare with."""
        return len(self.ways) > 1 and not self.asynchronous

    @property
    def on_host(self):
        """True if it is also timed natively on this machine."""
        return self.name in CALLS or (self.name.startswith(("ls5000", "copy"))
                                      and not self.name.endswith("-l"))

    @property
    def in_table(self):
        """Is it in the table of all ways? fit has its own."""
        return (self.program and "native" in self.ways and self.name != "fit"
                and not self.asynchronous)


# "compound" makes plain system calls, "fast" whatever gives the same in fewer
# instructions.
ALL = ("native", "compound", "fast", "bound", "io_uring")
NO_RING = ("native", "compound", "fast", "bound")
WHOLE = ("native", "compound", "fast")
# Operations of a loop: by the calls themselves or epoll, by the executor in user mode, by
# batches in the module (the default), and by a loop of the module (COSY_EXECUTOR=kernel); and
# io_uring.
ASYNC = ("native", "user", "entries", "loops", "io_uring")
ASYNC_CALLS = ("page1", "page64", "cpu1", "cpu64", "statx1", "statx64", "wait-cancel",
               "handover", "handover64")
# The same by COSY_ASYNC functions, in batches.
SERVERS = (*ASYNC, "functions")
ECHO = ("echo-unix-64", "echo-unix-1", "echo-unix-1024", "echo-tcp-64",
        "echo-process-1", "echo-process-64")
BONNIE = ("read", "rewrite", "write")
# User functions, and what they may take in percent of gcc -O2 of the same C.
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
    *(Bench(f"fn-{name}", "functions") for name in FUNCTIONS),
    Bench("op", "op", ("compound",), ("op",) + tuple("op-" + o for o in OPERATIONS)),
    Bench("load", "load", ("compound",)),
    Bench("fit", "fit", NO_RING, tuple(f"fit{n}" for n in FIT)),
    *(Bench(name, "async", ASYNC) for name in ASYNC_CALLS),
    Bench("read-cold", "async", ASYNC, fs="disk"),
    *(Bench(name, "echo", SERVERS) for name in ECHO),
    Bench("interpreter"),
    Bench("native-overhead"),
    Bench("compile"),
)

# The experiments of the Cosy paper, its figures 2 to 7, and single operations that are
# worth more than a crossing.
COSY = ("getpid", "pread64", "pread4096", "fit", "dbsim", "dbsim-function", "dbsim-sizes",
        *(f"bonnie-{phase}" for phase in BONNIE), "bonnie-sizes", "ls5000", "ls5000-ext4", "ls50000",
        "ls5000-l", "ls50000-l", "grep", "grep-kernel", "grep-sizes", "stat", "smallfile",
        "lseekread", "copy4k", "copy64k", "copy4k-ext4", "copy64k-ext4")


@dataclass(frozen=True)
class Experiment:
    """One of the paper's, and what is left to save in it.

    paper:     the percentages it saved: compound, zero copy
    crossings: of an iteration
    copies:    of 4 KiB that nobody needs, in an iteration
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

# What a measurement takes on an idle machine, in seconds, where it is more than usual.
SECONDS = {"ls50000": 2, "ls50000-l": 3, "grep-200M": 12, "native-overhead": 10, "compile": 8,
           **{f"bonnie-{phase}-64M": 1 for phase in BONNIE},
           **{f"bonnie-{phase}-256M": 4 for phase in BONNIE},
           **{f"dbsim-{of}": 2 for of in ("1M", "4M", "64M", "2p", "4p")}, "dbsim-256M": 4}


def seconds(name):
    return SECONDS.get(name, 0.5)


# Names that stand for several benchmarks.
GROUPS = {"cosy": COSY, "async": (*ASYNC_CALLS, "read-cold", *ECHO),
          "functions": tuple(f"fn-{name}" for name in FUNCTIONS)}

# The loops of bench/programs/interpreter.c, and the best ns per iteration that other
# interpreters needed for the same loops, measured once: docs/benchmarks.md tells how.
INTERPRETED = {
    "sieve": {"wasm3": 19.6, "ubpf": 67.9, "rbpf": 306},
    "collatz": {"wasm3": 351, "ubpf": 1110, "rbpf": 1347},
    "fnv": {"wasm3": 2.46, "ubpf": 17.1, "rbpf": 21.8},
}

# The benchmarks with a figure that the regression gate watches.
GATE = ("getpid", "pread64", "pread4096", "newfstatat", "openclose", "entry", "upcall", "ioctl",
        "op", "load", "stat", "smallfile", "lseekread", "ls5000", "ls5000-ext4", "ls5000-l",
        "copy4k", "copy64k", "dbsim", "dbsim-function",
        *(f"fn-{name}" for name in FUNCTIONS))

# System calls in one iteration, where the bound says what the compound adds to each.
CALLS = {"getpid": 1, "pread64": 1, "pread4096": 1, "newfstatat": 1, "openclose": 2}


@dataclass(frozen=True)
class Goal:
    """A figure to reach: value(results) is at most limit; None if not measured."""

    text: str
    limit: float
    unit: str
    value: object


def over_bound(results, name):
    """What the compound adds to a call, its loop's operation apart; None if unknown."""
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
    """What the compound adds to the loop, without what its three operations cost."""
    ways = ("compound", "native")
    if not all(results.has(name, way) for name in ("entry", "entry-6") for way in ways):
        return None
    # The second three operations of entry-6 cost what the three of entry do.
    compound, native = (2 * results.best("entry", way) - results.best("entry-6", way)
                        for way in ways)
    return compound - native


def _upcall(results):
    """In percent of an ioctl that does nothing."""
    if not (results.has("upcall", "compound") and results.has("ioctl", "native")):
        return None
    return 100 * results.best("upcall", "compound") / results.best("ioctl", "native")


def _five_getpids(results):
    if not (results.has("fit5", "compound") and results.has("fit5", "native")):
        return None
    return 100 * results.best("fit5", "compound") / results.best("fit5", "native")


def _share(name, other="native", way="fast"):
    """What one way takes, in percent of another one."""
    def value(results):
        if not (results.has(name, way) and results.has(name, other)):
            return None
        return 100 * results.best(name, way) / results.best(name, other)
    return value


def _figure(name, way, where="icount"):
    return lambda results: results.best(name, way, where) if results.has(name, way, where) else None


def native_overhead(results, name):
    """In percent."""
    return 100 * (results.best(name, "compound", "host") / results.best(name, "native", "host") - 1)


def compile_cost(results):
    """In milliseconds."""
    return 1e-6 * (results.best("compile", "compound", "host")
                   - results.best("compile", "native", "host"))


def _overhead(results):
    return max((native_overhead(results, name) for name in results.names("native-overhead")),
               default=None)


def _compile_cost(results):
    return compile_cost(results) if results.has("compile", "compound", "host") else None


# In percent.
FAST_OF_NATIVE = {"stat": 70, "smallfile": 65, "lseekread": 75, "ls5000": 42, "ls5000-ext4": 58,
                  "ls5000-l": 60, "copy4k": 65, "copy64k": 65}

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
    *(Goal(f"{name}, fast, of its bound", 110, "%", _share(name, "bound"))
      for name in ("dbsim", "dbsim-function")),
    *(Goal(f"{name} in a user function, of gcc -O2", limit, "%",
           _share(f"fn-{name}", way="compound")) for name, limit in FUNCTIONS.items()),
    Goal("loading, per operation", 5000, "instructions = ns", _figure("load", "compound")),
    Goal("a simple operation, in user mode", 3, "ns", _figure("op", "user", "host")),
    Goal("the plugin, file without regions", 10, "ms", _compile_cost),
    Goal("a native run, over no markers", 1, "%", _overhead),
)
