# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plots of the Cosy paper's experiments, by gnuplot, as SVG and PNG."""

import os
import shutil
import subprocess
import sys

import catalogue

TITLES = {"compound": "compound", "fast": "compound with zero copy", "io_uring": "io_uring",
          "bound": "C loop in the kernel"}
TERMINALS = {"svg": "svg size 800,500 dynamic font 'DejaVu Sans,13'",
             "png": "pngcairo size 1200,750 font 'DejaVu Sans,14'"}


def _improvement(results, name, way):
    """By how many percent of the native instructions a way is better."""
    if not (results.has(name, way) and results.has(name, "native")):
        return None
    return 100 * (1 - results.median(name, way) / results.median(name, "native"))


def _plot(directory, name, title, points, ways, results, xlabel):
    """points: (label, bench). Lines of improvement over native, in percent."""
    ways = [way for way in ways
            if any(_improvement(results, bench, way) is not None for _, bench in points)]
    if not ways:
        return []
    lines = []
    for way in ways:
        lines.append(f"${way} << END")
        for at, (_, bench) in enumerate(points):
            value = _improvement(results, bench, way)
            if value is not None:
                lines.append(f"{at} {value:.3f}")
        lines.append("END")
    tics = ", ".join(f'"{label}" {at}' for at, (label, _) in enumerate(points))
    plots = ", ".join(f"${way} using 1:2 with linespoints lw 2 pt {5 + 2 * i} "
                      f"title '{TITLES[way].replace('_', ' ')}'" for i, way in enumerate(ways))
    made = []
    for suffix, terminal in TERMINALS.items():
        path = os.path.join(directory, f"{name}.{suffix}")
        script = "\n".join([
            f"set terminal {terminal}", f"set output '{path}'", f"set title '{title}'",
            f"set xlabel '{xlabel}'", "set ylabel 'fewer guest instructions than natively (%)'",
            f"set xtics ({tics})", f"set xrange [-0.3:{len(points) - 0.7}]",
            "set grid ytics", "set key below", "set xzeroaxis", *lines, f"plot {plots}", ""])
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
        made.append(path)
    return made


def figures(results, directory):
    """Draw what was measured of figures 2 to 7 into directory, and tell the files."""
    if not shutil.which("gnuplot"):
        print("cosy bench: no plots: gnuplot is not there\n  HINT: run: ./cosy setup --plots",
              file=sys.stderr)
        return
    os.makedirs(directory, exist_ok=True)
    ways = ("compound", "fast", "io_uring", "bound")
    sizes = ("4M", "", "64M", "256M")

    def sized(name, size):
        return f"{name}-{size}" if size else name

    made = _plot(directory, "fig2-getpid", "getpid (figure 2)",
                 [(str(n), f"fit{n}") for n in catalogue.FIT if n & (n - 1) == 0 and n > 1],
                 ways, results, "calls in a compound")
    made += _plot(directory, "fig3-dbsim", "Database, by the size of its file (figure 3)",
                  [(size or "16M", sized("dbsim", size)) for size in ("1M",) + sizes],
                  ways, results, "file size")
    made += _plot(directory, "fig4-dbsim-processes", "Database, several processes (figure 4)",
                  [("1", "dbsim"), ("2", "dbsim-2p"), ("4", "dbsim-4p")], ways, results,
                  "processes")
    for phase in catalogue.BONNIE:
        made += _plot(directory, f"fig5-bonnie-{phase}", f"Bonnie, fast {phase} (figure 5)"
                      if phase != "rewrite" else "Bonnie, rewrite (figure 5)",
                      [(size or "16M", sized(f"bonnie-{phase}", size)) for size in sizes],
                      ways, results, "file size")
    made += _plot(directory, "fig6-ls", "ls -l (figure 6)",
                  [("5,000", "ls5000-l"), ("50,000", "ls50000-l"), ("5,000 (calls only)", "ls5000"),
                   ("50,000 (calls only)", "ls50000")], ways, results, "files")
    made += _plot(directory, "fig7-grep", "grep over files of 8 KiB (figure 7)",
                  [(size or "2M", sized("grep", size)) for size in ("128K", "512K", "", "20M", "200M")],
                  ways, results, "searched in all")
    print("Plots:")
    for path in made:
        print(f"  {os.path.relpath(path)}")
    print()
