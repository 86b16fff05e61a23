# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far it is, and how long the rest may take, on standard error."""

import sys
import time

# Seconds of work for which the expected pace counts as much as the measured one.
PRIOR = 20


def _duration(seconds):
    if seconds < 90:
        return f"{10 * max(1, round(seconds / 10))} seconds"
    return f"{round(seconds / 60)} minutes"


class Progress:
    """Of work whose parts are expected to take some seconds each."""

    def __init__(self, seconds):
        self.expected = sum(seconds)
        self.number = len(seconds)
        self.done = 0
        self.spent = 0
        self.name = None
        self.start = time.monotonic()

    def begin(self, name):
        """The next part begins; what has the name of the one before it is not told again."""
        if name != self.name:
            print(f"  [{self.done + 1}/{self.number}] {name}, about {_duration(self.left())} left",
                  file=sys.stderr, flush=True)
        self.name = name

    def end(self, seconds):
        """A part has ended that was expected to take so many seconds."""
        self.done += 1
        self.spent += seconds

    def left(self):
        """The seconds that the rest may take at the pace so far."""
        pace = (time.monotonic() - self.start + PRIOR) / (self.spent + PRIOR)
        return pace * (self.expected - self.spent)
