# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots the results by gnuplot, as SVG and PNG: the experiments of the Cosy paper, and the single
operations."""

import os
import shutil
import subprocess
import sys

import catalogue

WAYS = ("compound", "fast", "bound", "io_uring")
TITLES = dict(zip(WAYS, ("compound", "compound with zero copy", "C loop in the kernel",
                         "io_uring")))
# Colours of lines and bars, the same in all plots, and types of the points of lines.
COLOURS = dict(zip(WAYS, ("#9400d3", "#009e73", "#e69f00", "#56b4e9")))
POINTS = dict(zip(WAYS, (5, 7, 9, 11)))
# The lowest value of lines and the highest value of bars. Values beyond are written as text.
LOWEST, HIGHEST = -70, 160
TERMINALS = {"svg": "svg size 800,500 dynamic background rgb 'white' font 'DejaVu Sans,13'",
             "png": "pngcairo size 1200,750 font 'DejaVu Sans,14'"}


def _improvement(results, name, way):
    """Return how much better a way is, in percent of the native instructions."""
    if not (results.has(name, way) and results.has(name, "native")):
        return None
    return 100 * (1 - results.median(name, way) / results.median(name, "native"))


def _draw(directory, name, title, lines):
    """Run gnuplot once for each kind of file. Return the files."""
    made = []
    for suffix, terminal in TERMINALS.items():
        path = os.path.join(directory, f"{name}.{suffix}")
        script = "\n".join([f"set terminal {terminal}", f"set output '{path}'",
                            f"set title '{title}'", "set grid ytics",
                            "set key tmargin center horizontal noenhanced", *lines, ""])
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
        made.append(path)
    return made


def _tics(labels):
    return "set xtics (" + ", ".join(f'"{label}" {at}' for at, label in enumerate(labels)) + ")"


def _data(name, rows):
    return [f"${name} << END", *rows, "END"]


def _curves(directory, name, title, points, results, xlabel):
    """Draw lines of the improvement over native in percent. points: (label, bench)."""
    points = [point for point in points if results.has(point[1], "native")]
    if len(points) < 2:
        return []
    lines, plots = [], []
    for way in WAYS:
        values = [_improvement(results, bench, way) for _, bench in points]
        known = [value for value in values if value is not None]
        if not known:
            continue
        data, beyond = f"${way} using 1:2", ""
        if max(known) < LOWEST:
            data, beyond = "keyentry", f" (below: {min(known):.0f} to {max(known):.0f} %)"
        lines += _data(way, (f"{at} {value:.3f}" for at, value in enumerate(values)
                             if value is not None))
        plots.append(f"{data} with linespoints lw 2 pt {POINTS[way]} "
                     f"lc rgb '{COLOURS[way]}' title '{TITLES[way]}{beyond}'")
    return _draw(directory, name, title, [
        f"set xlabel '{xlabel}'", "set ylabel 'fewer guest instructions than natively (%)'",
        _tics([label for label, _ in points]), f"set xrange [-0.3:{len(points) - 0.7}]",
        f"set yrange [{LOWEST}<*<0:*]", "set xzeroaxis lt -1", *lines, "plot " + ", ".join(plots)])


def _bars(directory, name, title, groups, results):
    """Draw bars of the guest instructions of each way; native is 100. groups: (label, bench)."""
    groups = [group for group in groups if results.has(group[1], "native")]
    ways = [way for way in WAYS if any(results.has(bench, way) for _, bench in groups)]
    if not ways:
        return []
    width = 0.8 / len(ways)
    lines, plots, beyond = [], [], []
    for i, way in enumerate(ways):
        rows = []
        for at, (_, bench) in enumerate(groups):
            improvement = _improvement(results, bench, way)
            if improvement is None:
                continue
            value = 100 - improvement
            x = at + width * (i - (len(ways) - 1) / 2)
            rows.append(f"{x:.3f} {value:.3f}")
            if value > HIGHEST:
                beyond.append(f"{x:.3f} {HIGHEST - 2} {value:.0f}")
        lines += _data(way, rows)
        plots.append(f"${way} with boxes lc rgb '{COLOURS[way]}' title '{TITLES[way]}'")
    if beyond:
        lines += _data("beyond", beyond)
        plots.append("$beyond using 1:2:3 with labels rotate by 90 right font ',10' notitle")
    return _draw(directory, name, title, [
        "set ylabel 'guest instructions (natively: 100)'", f"set yrange [0:{HIGHEST}]",
        _tics([label for label, _ in groups]),
        *(["set xtics rotate by 40 right"] if len(groups) > 6 else []),
        f"set xrange [-0.6:{len(groups) - 0.4}]", f"set boxwidth {width:.3f}",
        "set style fill solid 0.8 noborder", "set arrow from graph 0, first 100 to graph 1, "
        "first 100 nohead dt 2", *lines, "plot " + ", ".join(plots)])


def _can_draw(directory):
    """Return true if gnuplot is installed. Then make the directory."""
    if not shutil.which("gnuplot"):
        print("cosy bench: no plots: gnuplot is not installed\n  HINT: run: ./cosy setup --plots",
              file=sys.stderr)
        return False
    os.makedirs(directory, exist_ok=True)
    return True


def _tell(made):
    if made:
        print("Plots:")
        for path in made:
            print(f"  {os.path.relpath(path)}")
        print()


def programs(measured, directory, name, title):
    """Draw bars for whole processes. measured: {(program, file system): (native, with Cosy)}."""
    if not measured or not _can_draw(directory):
        return
    systems = {"tmpfs": COLOURS["fast"], "ext4": COLOURS["io_uring"]}
    labels = list(dict.fromkeys(program for program, _ in measured))
    width = 0.8 / len(systems)
    lines, plots = [], []
    for i, (system, colour) in enumerate(systems.items()):
        rows = [f"{at + width * (i - 0.5):.3f} "
                f"{100 * measured[label, system][1] / measured[label, system][0]:.3f}"
                for at, label in enumerate(labels) if (label, system) in measured]
        lines += _data(system, rows)
        # The numbers are inside the bars, which begin at 0.
        plots += [f"${system} with boxes lc rgb '{colour}' title '{system}'",
                  f"${system} using 1:($2-2):(sprintf('%.0f', $2)) with labels rotate by 90 "
                  "right font ',10' notitle"]
    _tell(_draw(directory, name, title, [
        "set ylabel 'guest instructions (natively: 100)'", "set yrange [0:115]", _tics(labels),
        "set xtics rotate by 40 right noenhanced", f"set xrange [-0.6:{len(labels) - 0.4}]",
        f"set boxwidth {width:.3f}", "set style fill solid 0.8 noborder",
        "set arrow from graph 0, first 100 to graph 1, first 100 nohead dt 2", *lines,
        "plot " + ", ".join(plots)]))


def figures(results, directory):
    """Draw all results into directory, and print the names of the files."""
    if not _can_draw(directory):
        return
    sizes = ("4M", "", "64M", "256M")

    def sized(name, size):
        return f"{name}-{size}" if size else name

    made = _curves(directory, "fig2-getpid", "getpid (figure 2)",
                   [(str(n), f"fit{n}") for n in catalogue.FIT if n & (n - 1) == 0 and n > 1],
                   results, "calls in a compound")
    made += _curves(directory, "fig3-dbsim", "Database, by the size of its file (figure 3)",
                    [(size or "16M", sized("dbsim", size)) for size in ("1M",) + sizes],
                    results, "file size")
    made += _curves(directory, "fig4-dbsim-processes", "Database, several processes (figure 4)",
                    [("1", "dbsim"), ("2", "dbsim-2p"), ("4", "dbsim-4p")], results, "processes")
    for phase in catalogue.BONNIE:
        made += _curves(directory, f"fig5-bonnie-{phase}", f"Bonnie, fast {phase} (figure 5)"
                        if phase != "rewrite" else "Bonnie, rewrite (figure 5)",
                        [(size or "16M", sized(f"bonnie-{phase}", size)) for size in sizes],
                        results, "file size")
    made += _bars(directory, "fig6-ls", "ls -l (figure 6)",
                  [("5,000 files", "ls5000-l"), ("50,000 files", "ls50000-l"),
                   ("5,000, calls only", "ls5000"), ("50,000, calls only", "ls50000")], results)
    made += _curves(directory, "fig7-grep", "grep over files of 8 KiB (figure 7)",
                    [(size or "2M", sized("grep", size))
                     for size in ("128K", "512K", "", "20M", "200M")],
                    results, "searched in all")
    made += _bars(directory, "operations", "Guest instructions against native",
                  [(bench.name, bench.name) for bench in catalogue.BENCHES
                   if bench.in_table and bench.timed and not bench.points], results)
    _tell(made)
