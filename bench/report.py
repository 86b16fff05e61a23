# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the tables."""

import catalogue
from results import line_fit

# Nanoseconds of an instruction that is not part of a crossing, for the projection: one
# instruction per cycle at 4 GHz, which favours neither side much.
NS_PER_INSTRUCTION = 0.25
# Instructions of a crossing, from user mode to the kernel and back.
CROSSING_INSTRUCTIONS = 175
DEFAULT_CROSSING_NS = 100


def _cell(value, form="{:.0f}"):
    return "-" if value is None else form.format(value)


def _table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]))
    print()


def _points(benches):
    """Yield each row of the tables of ways, with its benchmark."""
    for bench in benches:
        if bench.in_table:
            for name in bench.programs_benches():
                yield bench, name


def _ways(results, name, where):
    """Return the cells of a row: ways, ratios, spread; None if nothing was measured."""
    value = {
        way: results.median(name, way, where) if results.has(name, way, where) else None
        for way in catalogue.ALL
    }
    if all(v is None for v in value.values()):
        return None
    ratios = [value[way] / value["native"] if value["native"] and value[way] else None
              for way in ("compound", "fast")]
    spread = max(results.spread(name, way, where) for way in value if value[way] is not None)
    return (*(_cell(value[way]) for way in catalogue.ALL),
            *(_cell(ratio, "{:.2f}") for ratio in ratios), f"{spread:.1f} %")


def main_table(results, benches):
    rows = [("per iteration", *catalogue.ALL, "comp/native", "fast/native", "over bound (*)",
             "spread")]
    for bench, name in _points(benches):
        row = _ways(results, name, "icount")
        if row:
            over = catalogue.over_bound(results, name) if name in catalogue.CALLS else None
            rows.append((f"{name} ({bench.fs})", *row[:-1], _cell(over, "{:.1f}"), row[-1]))
    if len(rows) > 1:
        print("Guest instructions (icount; everything cached)")
        _table(rows)
        print("(*) per call, without the compound's loop operation (op-loop)")
        print()


# The accelerators of the VM, and how reliable its wall clock is with them.
ACCELERATORS = {"tcg": "tcg: the CPU is emulated: only the ratios have a meaning, and it is small",
                "kvm": "kvm: on this machine's CPU"}


def wall_clock(results, benches):
    """Print the wall-clock time of the same programs in the VM."""
    for accelerator, meaning in ACCELERATORS.items():
        rows = [("ns per iteration", *catalogue.ALL, "comp/native", "fast/native", "spread")]
        for bench in benches:
            for name in bench.programs_benches() if bench.timed else ():
                row = _ways(results, name, accelerator)
                if row:
                    rows.append((name, *row))
        if len(rows) > 1:
            print(f"Wall clock in the VM ({meaning})")
            _table(rows)


def operations(results, benches):
    """Print the costs of operations of a loop, with those of system calls and epoll."""
    rows = [("per operation or request", *catalogue.CACHES,
             *(f"{way}/native" for way in catalogue.CACHES[1:]), "spread")]
    for bench in benches:
        if not bench.asynchronous or not results.has(bench.name, "native"):
            continue
        value = {way: results.median(bench.name, way) if results.has(bench.name, way) else None
                 for way in catalogue.CACHES}
        spread = max(results.spread(bench.name, way) for way in value if value[way] is not None)
        rows.append((bench.name, *(_cell(value[way]) for way in catalogue.CACHES),
                     *(_cell(value[way] and value[way] / value["native"], "{:.2f}")
                       for way in catalogue.CACHES[1:]), f"{spread:.1f} %"))
    if len(rows) > 1:
        print("Guest instructions of asynchronous operations (echo: without the clients' own)")
        _table(rows)


def slopes(results):
    rows = [("slope", "instructions", "spread")]
    for name in ["op"] + ["op-" + o for o in catalogue.OPERATIONS] + ["load"]:
        if results.has(name, "compound"):
            rows.append((name, f"{results.median(name, 'compound'):.1f}",
                         f"{results.spread(name, 'compound'):.1f} %"))
    if len(rows) > 1:
        print("Cost of one operation: executed (op: a mix on registers), loaded (load)")
        _table(rows)


def _break_even(intercept, slope, native):
    """Return the smallest n with intercept + slope * n <= native * n; None if there is none."""
    return None if native <= slope else intercept / (native - slope)


def fit(results):
    points = {
        way: [(n, results.median(f"fit{n}", way)) for n in catalogue.FIT if results.has(f"fit{n}", way)]
        for way in catalogue.NO_RING
    }
    if any(len(p) < 2 for p in points.values()):
        return
    rows = [("getpids in a compound", *catalogue.NO_RING, "comp/native", "spread")]
    for measured in zip(*points.values()):
        n = measured[0][0]
        native, compound = measured[0][1], measured[1][1]
        spread = max(results.spread(f"fit{n}", way) for way in points)
        rows.append((str(n), *(_cell(value) for _, value in measured),
                     f"{compound / native:.2f}", f"{spread:.1f} %"))
    print("The null call (guest instructions); bound is an ioctl that makes as many calls")
    _table(rows)
    n0, n1 = line_fit(points["native"])
    c0, c1 = line_fit(points["compound"])
    losing = [n for (n, native), (_, compound) in zip(points["native"], points["compound"])
              if compound >= native]
    print(f"line fit: native {n0:.0f} + {n1:.1f} n, compound {c0:.0f} + {c1:.1f} n instructions")
    even = _break_even(c0 - n0, c1, n1)
    print(f"break-even: {_cell(even, '{:.1f}')} calls; compounds lose with "
          f"{', '.join(map(str, losing)) or 'none'} of the measured numbers of calls")

    crossing, measured = DEFAULT_CROSSING_NS, "assumed"
    if results.has("getpid", "native", "host"):
        # The rest of getpid is small compared with the crossing.
        crossing = results.best("getpid", "native", "host") - NS_PER_INSTRUCTION * (
            n1 - CROSSING_INSTRUCTIONS)
        measured = "from this CPU's getpid"
    entry = crossing + NS_PER_INSTRUCTION * (c0 - CROSSING_INSTRUCTIONS)
    call = NS_PER_INSTRUCTION * c1
    native = crossing + NS_PER_INSTRUCTION * (n1 - CROSSING_INSTRUCTIONS)
    print(f"projected to a crossing of {crossing:.0f} ns ({measured}) and "
          f"{NS_PER_INSTRUCTION} ns per other instruction: native {native:.0f} n, compound "
          f"{entry:.0f} + {call:.0f} n ns; break-even {_cell(_break_even(entry, call, native), '{:.1f}')} calls")
    print()


def paper(results):
    """Print the savings of the paper, the savings here, and the maximum: without all crossings and
    needless copies."""
    if not all(results.has(name, way) for name, way in (
            ("getpid", "native"), ("getpid", "bound"), ("pread64", "native"), ("pread4096", "native"))):
        return
    crossing = results.median("getpid", "native") - results.median("getpid", "bound")
    copy = results.median("pread4096", "native") - results.median("pread64", "native")
    rows = [("saved, in %", "paper", "compound", "fast", "at most", "native", "bound (*)",
             "fast over bound")]
    for experiment in catalogue.PAPER:
        if not all(results.has(experiment.name, way) for way in catalogue.WHOLE):
            continue
        native, compound, fast = (results.median(experiment.name, way) for way in catalogue.WHOLE)
        if results.has(experiment.name, "bound"):
            bound = results.median(experiment.name, "bound")
        else:
            bound = native - experiment.crossings * crossing
        bound -= experiment.copies * copy
        rows.append((experiment.name, experiment.paper,
                     *(f"{round(100 * (1 - value / native))}" for value in (compound, fast, bound)),
                     _cell(native), _cell(bound), f"{round(100 * (fast / bound - 1)):+d} %"))
    if len(rows) > 1:
        print("The Cosy paper's experiments: the paper compares times, this table instructions")
        _table(rows)
        print(f"(*) computed: the loop in a module, or native without its crossings of "
              f"{crossing:.0f}\n    instructions; minus needless copies of 4 KiB, {copy:.0f} "
              "instructions each")
        print()


def host(results):
    rows = [("best, on this machine", "with Cosy", "without", "difference")]
    for name in results.names("native-overhead"):
        rows.append((name, *(f"{results.best(name, way, 'host'):.1f} ns"
                             for way in ("compound", "native")),
                     f"{catalogue.native_overhead(results, name):+.2f} %"))
    for name in results.names("compile"):
        rows.append((name, *(f"{results.best(name, way, 'host') / 1e6:.1f} ms"
                             for way in ("compound", "native")),
                     f"{catalogue.compile_cost(results):+.1f} ms"))
    if len(rows) > 1:
        print("Natively, without the module, measured in turn")
        _table(rows)
    others = ("wasm3", "ubpf", "rbpf")
    rows = [("best ns, on this machine", "native", "libcosy's executor",
             *(f"{other} (*)" for other in others))]
    for name, figures in catalogue.INTERPRETED.items():
        if results.has(name, "user", "host"):
            rows.append((name, *(f"{results.best(name, way, 'host'):.2f}" for way in ("native", "user")),
                         *(_cell(figures[other], "{:.2f}") for other in others)))
    if len(rows) > 1:
        print("Loops that compute, interpreted")
        _table(rows)
        print("(*) measured once; docs/benchmarks.md explains how and where")
        print()
    rows = [("natively on this machine", "best ns", "median ns", "spread")]
    for name in list(catalogue.CALLS) + ["ls5000", "ls50000", "copy4k", "copy64k"]:
        if results.has(name, "native", "host"):
            rows.append((name, f"{results.best(name, 'native', 'host'):.0f}",
                         f"{results.median(name, 'native', 'host'):.0f}",
                         f"{results.spread(name, 'native', 'host'):.0f} %"))
    if len(rows) > 1:
        _table(rows)


def goals(results, tolerance):
    """Print each goal that was measured. Return those that were missed by more than tolerance."""
    missed = []
    rows = []
    for goal in catalogue.GOALS:
        value = goal.value(results)
        if value is None:
            continue
        reached = value <= goal.limit
        rows.append((goal.text, f"{value:.1f}", f"at most {goal.limit:g} {goal.unit}",
                     "reached" if reached else "missed"))
        if value > goal.limit * (1 + tolerance):
            missed.append(goal)
    if rows:
        print("Goals")
        _table(rows)
    return missed
