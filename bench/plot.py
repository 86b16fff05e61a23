# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots of what was measured, by gnuplot, as SVG and PNG: the Cosy paper's experiments,
and the single operations."""

import os
import shutil
import subprocess
import sys

import catalogue

TITLES = {"compound": "compound", "fast": "compound with zero copy", "io_uring": "io_uring",
          "bound": "C loop in the kernel"}
WAYS = ("compound", "fast", "io_uring", "bound")
TERMINALS = {"svg": "svg size 800,500 dynamic font 'DejaVu Sans,13'",
             "png": "pngcairo size 1200,750 font 'DejaVu Sans,14'"}


def _improvement(results, name, way):
    """By how many percent of the native instructions a way is better."""
    if not (results.has(name, way) and results.has(name, "native")):
        return None
    return 100 * (1 - results.median(name, way) / results.median(name, "native"))


def _draw(directory, name, title, lines):
    """Run gnuplot once for each kind of file. Return: the files."""
    made = []
    for suffix, terminal in TERMINALS.items():
        path = os.path.join(directory, f"{name}.{suffix}")
        script = "\n".join([f"set terminal {terminal}", f"set output '{path}'",
                            f"set title '{title}'", "set grid ytics", "set key below", *lines, ""])
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
        made.append(path)
    return made


def _tics(labels):
    return "set xtics (" + ", ".join(f'"{label}" {at}' for at, label in enumerate(labels)) + ")"


def _data(way, values):
    return [f"${way} << END", *(f"{at} {value:.3f}" for at, value in enumerate(values)
                                if value is not None), "END"]


def _curves(directory, name, title, points, results, xlabel):
    """points: (label, bench). Lines of improvement over native, in percent."""
    points = [point for point in points if results.has(point[1], "native")]
    if len(points) < 2:
        return []
    values = {way: [_improvement(results, bench, way) for _, bench in points] for way in WAYS}
    ways = [way for way in WAYS if any(value is not None for value in values[way])]
    plots = ", ".join(f"${way} using 1:2 with linespoints lw 2 pt {5 + 2 * i} "
                      f"title '{TITLES[way].replace('_', ' ')}'" for i, way in enumerate(ways))
    return _draw(directory, name, title, [
        f"set xlabel '{xlabel}'", "set ylabel 'fewer guest instructions than natively (%)'",
        _tics([label for label, _ in points]), f"set xrange [-0.3:{len(points) - 0.7}]",
        "set xzeroaxis", *(line for way in ways for line in _data(way, values[way])),
        f"plot {plots}"])


def _bars(directory, name, title, names, results):
    """Guest instructions of each way, native being 100; what is off the scale is cut."""
    values = {way: [100 - improvement
                    if (improvement := _improvement(results, bench, way)) is not None else None
                    for bench in names] for way in WAYS}
    ways = [way for way in WAYS if any(value is not None for value in values[way])]
    if not ways:
        return []
    width = 0.8 / len(ways)
    plots = ", ".join(f"${way} using ($1+{width * (i - (len(ways) - 1) / 2):.3f}):2 "
                      f"with boxes title '{TITLES[way].replace('_', ' ')}'"
                      for i, way in enumerate(ways))
    return _draw(directory, name, title, [
        "set ylabel 'guest instructions (natively: 100)'", "set yrange [0:160]",
        _tics([bench.replace("_", " ") for bench in names]), "set xtics rotate by 40 right",
        f"set xrange [-0.6:{len(names) - 0.4}]", f"set boxwidth {width:.3f}",
        "set style fill solid 0.8 noborder", "set arrow from graph 0, first 100 to graph 1, "
        "first 100 nohead dt 2",
        *(line for way in ways for line in _data(way, values[way])), f"plot {plots}"])


def figures(results, directory):
    """Draw what was measured into directory, and tell the files."""
    if not shutil.which("gnuplot"):
        print("cosy bench: no plots: gnuplot is not there\n  HINT: run: ./cosy setup --plots",
              file=sys.stderr)
        return
    os.makedirs(directory, exist_ok=True)
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
    made += _curves(directory, "fig6-ls", "ls -l (figure 6)",
                    [("5,000", "ls5000-l"), ("50,000", "ls50000-l"),
                     ("5,000 (calls only)", "ls5000"), ("50,000 (calls only)", "ls50000")],
                    results, "files")
    made += _curves(directory, "fig7-grep", "grep over files of 8 KiB (figure 7)",
                    [(size or "2M", sized("grep", size))
                     for size in ("128K", "512K", "", "20M", "200M")],
                    results, "searched in all")
    made += _bars(directory, "operations", "Guest instructions against native",
                  [bench.name for bench in catalogue.BENCHES
                   if bench.in_table and bench.timed and not bench.points
                   and results.has(bench.name, "native")],
                  results)
    if made:
        print("Plots:")
        for path in made:
            print(f"  {os.path.relpath(path)}")
        print()
