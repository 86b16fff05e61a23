# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The raw results, and values computed from them."""

import json
import os
from statistics import median


class Results:
    """The JSON objects by bench, way and where. Each new one is written to a file immediately."""

    def __init__(self, path=None):
        self.path = path
        self.figures = {}

    def load(self, path):
        """Read the results of a file."""
        with open(path, encoding="utf-8") as file:
            for figure in json.load(file):
                self.figures[figure["bench"], figure["way"], figure["where"]] = figure

    def add(self, figure):
        self.figures[figure["bench"], figure["way"], figure["where"]] = figure
        if self.path:
            self.write(self.path + ".new")
            os.replace(self.path + ".new", self.path)

    def write(self, path):
        """Write all results to a file, one per line, for readers and for diff."""
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(map(json.dumps, self.figures.values())) + "\n]\n")

    def _find(self, bench, way, where):
        return self.figures.get((bench, way, where))

    def has(self, bench, way, where="icount"):
        return self._find(bench, way, where) is not None

    def runs(self, bench, way, where):
        """Return the number of its runs."""
        return len(self._find(bench, way, where)["runs"]) if self.has(bench, way, where) else 0

    def median(self, bench, way, where="icount"):
        return median(self._find(bench, way, where)["runs"])

    def spread(self, bench, way, where="icount"):
        """Return (max - min) / median in percent."""
        runs = self._find(bench, way, where)["runs"]
        return 100 * (max(runs) - min(runs)) / median(runs)

    def best(self, bench, way, where="icount"):
        """Return the minimum, because interrupts and the kernel's threads only add to a run."""
        return min(self._find(bench, way, where)["runs"])

    def names(self, prefix):
        """Return the benches whose name is prefix, or begins with prefix and a slash."""
        return sorted(
            {bench for bench, _, _ in self.figures if bench.split("/")[0] == prefix}
        )


def line_fit(points):
    """Return (intercept, slope) of points (x, y) by least squares."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return mean_y - slope * mean_x, slope
