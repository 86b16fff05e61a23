# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Common code of the generators of user functions: lines of C, and random choices.


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.indent = 1

    def emit_at(self, indent, *lines):
        for line in lines:
            self.lines.append("\t" * indent + line)

    def emit(self, *lines):
        self.emit_at(self.indent, *lines)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *values):
        return self.rng.choice(values)
