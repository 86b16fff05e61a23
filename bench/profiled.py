# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench profile`: what cosy profile predicts for cosy run, and what is measured, for programs of
Debian on tmpfs."""

import processes

# The error that a prediction may have, relative to what is measured; and what is too small for that, relative
# to what the program takes natively.
TOLERANCE, SMALL = 0.15, 0.005
# Programs whose threads take turns in another way with Cosy, on one CPU, which no prediction knows.
THREADS = {"exa-long", "fd", "fd-size"}


def run(root, build, series, runs, names=()):
    """Print the table. Return true if every prediction is within the tolerance."""
    figures = {(name, label): (without, with_cosy) for name, label, without, with_cosy
               in processes.measure(root, build, series, runs, "profile", names)}
    print("Change of the instructions of whole processes, in per cent\n")
    print(f"{'program':14}{'native':>10}{'predicted':>11}{'measured':>10}")
    wrong = []
    for name, label in figures:
        if label != "tmpfs":
            continue
        native, cosy = figures[name, label]
        profiled, expected = figures[name, "predicted"]
        measured, predicted = cosy / native - 1, expected / profiled - 1
        print(f"{name:14}{native / 1000:10.0f}{100 * predicted:+11.1f}{100 * measured:+10.1f}",
              flush=True)
        if abs(predicted - measured) > max(TOLERANCE * abs(measured), SMALL) and \
                name not in THREADS:
            wrong.append(f"{name}: {100 * predicted:+.1f} % predicted, {100 * measured:+.1f} % "
                         "measured")
    print()
    for text in wrong:
        print(f"wrong: {text}")
    return not wrong
