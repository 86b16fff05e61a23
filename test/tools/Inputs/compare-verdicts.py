# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-verdicts.py COSY-COMPARE: check its verdicts on known series of figures."""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from compare_module import load

compare = load(sys.argv[1])


class Way:
    def __init__(self, values):
        self.runs = [{"cpu": value} for value in values]


def verdict(native, cosy):
    return compare.change(Way(cosy), Way(native), "cpu")[2]


NOISE = [100, 131, 96, 150, 104, 99, 122, 108, 97, 115, 143]
assert verdict([100] * 5, [80] * 5) == "too few runs for a verdict"
assert verdict([100] * 6, [80] * 6) == "gains"
assert verdict([100] * 6, [120] * 6) == "loses"
assert verdict(NOISE, [value * 0.9 for value in NOISE]) == "gains"
assert verdict(NOISE, list(reversed(NOISE))) == "the difference is noise"
# One run that was interrupted does not change the verdict; a change of 0.05 % is none.
assert verdict([1000] * 15, [900] * 14 + [9000]) == "gains"
assert verdict([100000] * 15, [100050] * 15) == "the difference is noise"
# The interval of 15 values: 97 % of the distributions' medians are between the 4th and the 12th.
assert compare.interval(list(range(15))) == (3, 11)
assert compare.interval(list(range(5))) is None

# Short programs have more rounds, as far as the time allows; counted instructions do not vary.
comparison = compare.Comparison.__new__(compare.Comparison)
comparison.arguments = argparse.Namespace(runs=None, icount=False)
assert not comparison.is_enough(15, 1) and comparison.is_enough(15, 4)
assert not comparison.is_enough(2, 40) and comparison.is_enough(3, 40)
assert comparison.is_enough(500, 1)
comparison.arguments.icount = True
assert not comparison.is_enough(14, 1) and comparison.is_enough(15, 1)
comparison.arguments.runs = 2
assert not comparison.is_enough(1, 40) and comparison.is_enough(2, 0)
