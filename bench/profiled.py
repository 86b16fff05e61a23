# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench profile`: what cosy profile predicts for cosy run, and what is measured, for programs of
Debian on tmpfs."""

import processes

# The error that a prediction may have, relative to what is measured; and what is too small for that, relative
# to what the program takes natively.
TOLERANCE, SMALL = 0.15, 0.005
# Programs whose threads take turns in another way with Cosy, on one CPU, which no prediction knows.
THREADS = {"exa-long", "fd", "fd-size", "mksquashfs", "rg-files"}


def run(root, build, series, runs, names=()):
    """Print the table. Return true if every program was measured, and every prediction is within the tolerance."""
    rows = processes.Rows(root, build, series, runs, "profile", names, ("tmpfs", "predicted"))
    print("Change of the instructions of whole processes, in per cent\n")
    print(f"{'program':14}{'native':>10}{'predicted':>11}{'measured':>10}")
    wrong, changes = [], {}
    for name, label, without, with_cosy in rows:
        changes[label] = with_cosy / without - 1
        if label != "predicted":
            native = without
            continue
        measured, predicted = changes["tmpfs"], changes["predicted"]
        print(f"{name:14}{native / 1000:10.0f}{100 * predicted:+11.1f}{100 * measured:+10.1f}",
              flush=True)
        if abs(predicted - measured) > max(TOLERANCE * abs(measured), SMALL) and \
                name not in THREADS:
            wrong.append(f"{name}: {100 * predicted:+.1f} % predicted, {100 * measured:+.1f} % "
                         "measured")
    print()
    for text in wrong:
        print(f"wrong: {text}")
    return rows.complete and not wrong
