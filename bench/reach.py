# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./cosy bench reach`: how many calls with a name programs of Debian make for a file, and how many of
all of them `cosy run` reaches."""

import processes

SMALL, LARGE = "100", "400"


def run(root, build, series, runs, names=()):
    """Print the table, and the share of all calls."""
    natively = left = 0
    small = {}
    print("Calls with a name, without those of the dynamic linker\n")
    print(f"{'program':14}{'a file':>8}{'of these left':>15}{'in all':>8}{'left':>8}{'reached':>9}")
    rows = processes.Rows(root, build, series, runs, "reach", names, (SMALL, LARGE))
    for name, files, native, rest in rows:
        if files == SMALL:
            small[name] = native, rest
            continue
        per_file = [(large - less) / (int(LARGE) - int(SMALL))
                    for large, less in zip((native, rest), small[name])]
        print(f"{name:14}{per_file[0]:8.1f}{per_file[1]:15.1f}{native:8}{rest:8}"
              f"{100 * (1 - rest / native):8.1f}%", flush=True)
        natively += native
        left += rest
    if natively:
        print(f"\n{natively} calls, {100 * (1 - left / natively):.1f} % reached")
    return rows.complete
