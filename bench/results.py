# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The raw figures, and what is computed from them."""

from statistics import median


class Results:
    """The JSON objects, found by bench, way and where."""

    def __init__(self):
        self.figures = []

    def add(self, figure):
        self.figures.append(figure)

    def _find(self, bench, way, where):
        for figure in self.figures:
            if (figure["bench"], figure["way"], figure["where"]) == (bench, way, where):
                return figure
        return None

    def has(self, bench, way, where="icount"):
        return self._find(bench, way, where) is not None

    def median(self, bench, way, where="icount"):
        return median(self._find(bench, way, where)["runs"])

    def spread(self, bench, way, where="icount"):
        """(max - min) / median, in percent."""
        runs = self._find(bench, way, where)["runs"]
        return 100 * (max(runs) - min(runs)) / median(runs)

    def best(self, bench, way, where="icount"):
        """What disturbs a run - interrupts, the kernel's threads - only adds to it."""
        return min(self._find(bench, way, where)["runs"])

    def names(self, prefix):
        """The benches whose name is prefix, or begins with it and a slash."""
        return sorted(
            {f["bench"] for f in self.figures if f["bench"].split("/")[0] == prefix}
        )


def line_fit(points):
    """Least squares: (intercept, slope) of points (x, y)."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return mean_y - slope * mean_x, slope
