# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the progress and the estimated remaining time on standard error."""

import sys
import time

# After this many seconds of work, the expected and the measured speed have the same weight.
PRIOR = 20


def _duration(seconds):
    if seconds < 90:
        return f"{10 * max(1, round(seconds / 10))} seconds"
    return f"{round(seconds / 60)} minutes"


class Progress:
    """The progress of work in parts. seconds: the expected seconds of each part."""

    def __init__(self, seconds):
        self.expected = sum(seconds)
        self.number = len(seconds)
        self.done = 0
        self.spent = 0
        self.name = None
        self.start = time.monotonic()

    def begin(self, name):
        """Begin the next part. Print its name, unless the previous part has the same name."""
        if name != self.name:
            print(f"  [{self.done + 1}/{self.number}] {name}, about {_duration(self.left())} left",
                  file=sys.stderr, flush=True)
        self.name = name

    def end(self, seconds):
        """End a part. seconds: its expected seconds."""
        self.done += 1
        self.spent += seconds

    def left(self):
        """Return the remaining seconds, estimated from the speed so far."""
        pace = (time.monotonic() - self.start + PRIOR) / (self.spent + PRIOR)
        return pace * (self.expected - self.spent)
