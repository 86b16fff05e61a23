#!/usr/bin/python3 -ISB
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Show the results of `./cosy demo` while it runs, and write the page with the plots.

Reads the lines of bench/unmodified/programs from standard input.  A terminal gets bars, and
colours unless NO_COLOR is set; anything else gets plain text.
"""

import argparse
import html
import os
import sys
import textwrap
from collections import namedtuple

RUN, COMPOUNDS = "cosy run", "compounds"
# The programs that are executed, and how Cosy takes part.
CASES = {
    "du": ("du -s", RUN),
    "find": ("find -newer FILE", RUN),
    "ls": ("ls -lR", RUN),
    "ls-compiled": ("examples/ls -lR", COMPOUNDS),
    "grep": ("grep -rc TEXT", RUN),
    "grep-compiled": ("examples/grep -rcF TEXT", COMPOUNDS),
    "git": ("git status -uno", RUN),
    "cp": ("cp -r", RUN),
    "tar": ("tar cf -", RUN),
    "start": ("starting a process", RUN),
}
UNITS = {
    "Minstr": "millions of instructions, in user and kernel mode, that the whole process took",
    "ms": "milliseconds of processor time of the whole process",
}
WORKLOAD = ("Each command works on 3,200 small cached files in 32 directories. Its "
            "outputs with and without Cosy are compared, and are the same.")
HAPPENED = (
    "With `cosy run`, Debian's own programs make the calls that take names of files by the module, "
    "which spends fewer instructions on each; examples/ls and examples/grep are compiled with "
    "regions, and a region enters the kernel once for all of its calls.")
BAR = 18

Figure = namedtuple("Figure", "command mode native cosy")


def percent(figure):
    """Return the change of the cost by Cosy; less is better."""
    return 100 * (figure.cosy / figure.native - 1)


def signed(value):
    return f"{value:+.0f} %".replace("-", "\N{MINUS SIGN}")


class Terminal:
    """Prints figures as lines, with bars and colours where they can be shown."""

    def __init__(self, stream, unit):
        self.stream, self.unit = stream, unit
        self.bars = stream.isatty() and "utf" in (stream.encoding or "").lower()
        self.colours = stream.isatty() and not os.environ.get("NO_COLOR")

    def heading(self, where):
        print(f"\nDebian's programs and two examples, {where}:\n\n"
              f"{'command':25}{'by':9}{'native':>9}{'Cosy':>8}  {self.unit}",
              file=self.stream, flush=True)

    def line(self, figure):
        change = percent(figure)
        text = (f"{figure.command:25}{figure.mode:9}{figure.native:9.1f}{figure.cosy:8.1f}"
                f"{self.coloured(change)}")
        if self.bars:
            text += "  " + self.bar(figure)
        print(text, file=self.stream, flush=True)

    def coloured(self, change):
        text = f"{change:+6.0f} %"
        if not self.colours or abs(change) < 0.5:
            return text
        return f"\033[{32 if change < 0 else 33}m{text}\033[0m"

    def bar(self, figure):
        """Return the cost that remains, as a part of the native bar."""
        filled = min(round(BAR * figure.cosy / figure.native), BAR)
        return "\N{FULL BLOCK}" * filled + "\N{LIGHT SHADE}" * (BAR - filled)

    def closing(self, page):
        for text in (f"{self.unit}: {UNITS[self.unit]}. {WORKLOAD}", HAPPENED, f"Plots: {page}"):
            print("\n" + textwrap.fill(text, 79), file=self.stream)


PAGE = """<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cosy: native and with the module</title>
<style>
:root {{
  color-scheme: light dark;
  --back: #fdfdfc; --text: #1d1f21; --faint: #5f666d; --line: #d9dcdf;
  --native: #9aa5b1; --run: #0b7a5c; --compounds: #7a3fb0;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --back: #16181b; --text: #e6e8ea; --faint: #a0a8b0; --line: #363b41;
    --native: #6d7884; --run: #36b58f; --compounds: #b98af0;
  }}
}}
body {{ margin: 2rem auto; padding: 0 1rem; max-width: 54rem; background: var(--back);
  color: var(--text); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }}
h1 {{ font-size: 1.5rem; margin-bottom: 0; }}
h2 {{ font-size: 1.1rem; margin-top: 2.5rem; }}
.faint {{ color: var(--faint); }}
.wide {{ overflow-x: auto; }}
svg {{ width: 100%; min-width: 32rem; height: auto; }}
svg text {{ fill: var(--text); font: 13px system-ui, "DejaVu Sans", sans-serif; }}
svg .faint {{ fill: var(--faint); }}
svg line {{ stroke: var(--line); }}
.native {{ fill: var(--native); }}
.run {{ fill: var(--run); }}
.compounds {{ fill: var(--compounds); }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }}
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) {{ text-align: left; }}
code {{ font-family: ui-monospace, "DejaVu Sans Mono", monospace; }}
</style>
<h1>The same programs, natively and with Cosy</h1>
<p class="faint">Measured {where}: {unit}. {workload}</p>
<p>{happened}</p>
<h2>What is left of the native cost</h2>
<div class="wide">
{plot}
</div>
<h2>Figures</h2>
<div class="wide">
<table>
<tr><th>command<th>by<th>native<th>with Cosy<th>change
{rows}
</table>
</div>
</html>
"""


def plot(figures):
    """Return two bars for each program. All native bars have the same length."""
    left, width, height, right = 215, 430, 46, 95
    bottom = height * len(figures)
    parts = [f'<svg viewBox="0 0 {left + width + right} {bottom + 54}" role="img" '
             'aria-label="Cost with Cosy in per cent of the native cost">']
    # There must be room for a bar that is longer than the native one.
    scale = width / max(100, *(100 + percent(figure) for figure in figures))
    for at in range(0, 101, 25):
        x = left + at * scale
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>'
                     f'<text class="faint" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
                     f'{at} %</text>')
    for i, figure in enumerate(figures):
        y, cosy = i * height, (100 + percent(figure)) * scale
        kind = "run" if figure.mode == RUN else "compounds"
        parts.append(
            f'<text x="{left - 10}" y="{y + 26}" text-anchor="end">{html.escape(figure.command)}'
            f'</text><rect class="native" x="{left}" y="{y + 6}" width="{100 * scale:.1f}" '
            f'height="13" rx="2"/><rect class="{kind}" x="{left}" y="{y + 21}" '
            f'width="{cosy:.1f}" height="13" rx="2"/><text x="{left + cosy + 8:.1f}" '
            f'y="{y + 32}">{signed(percent(figure))}</text>')
    x = left
    for kind, label in (("native", "native"), ("run", RUN), ("compounds", "compiled: compounds")):
        parts.append(f'<rect class="{kind}" x="{x}" y="{bottom + 32}" width="13" height="13" '
                     f'rx="2"/><text x="{x + 19}" y="{bottom + 43}">{label}</text>')
        x += 110
    return "\n".join(parts + ["</svg>"])


def page(figures, where, unit):
    rows = "\n".join(
        f"<tr><td><code>{html.escape(figure.command)}</code><td>{figure.mode}<td>{figure.native:.1f}"
        f"<td>{figure.cosy:.1f}<td>{signed(percent(figure))}" for figure in figures)
    happened = html.escape(HAPPENED).replace("`cosy run`", "<code>cosy run</code>")
    return PAGE.format(where=html.escape(where), unit=UNITS[unit], workload=WORKLOAD,
                       happened=happened, plot=plot(figures), rows=rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--where", required=True, help="what the programs run on")
    parser.add_argument("--unit", required=True, choices=UNITS, help="of the figures")
    parser.add_argument("--html", required=True, metavar="FILE", help="the page to write")
    parser.add_argument("names", nargs="+", choices=CASES, metavar="NAME",
                        help="what has to be measured")
    args = parser.parse_args()

    terminal = Terminal(sys.stdout, args.unit)
    figures = {}
    terminal.heading(args.where)
    for line in sys.stdin:
        name, _, native, cosy = line.split()
        figures[name] = Figure(*CASES[name], int(native) / 1e6, int(cosy) / 1e6)
        terminal.line(figures[name])
    missing = [name for name in args.names if name not in figures]
    if missing:
        sys.exit(f"cosy demo: no figures of: {' '.join(missing)}")
    with open(args.html, "w", encoding="utf-8") as file:
        file.write(page(list(figures.values()), args.where, args.unit))
    terminal.closing(os.path.relpath(args.html))


if __name__ == "__main__":
    main()
