#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# random-batch.py SEED COUNT [dependent] [proof] - a program with COUNT random loops with COSY_BATCH
#
# Iterations are independent, so split loops have the same results. The program prints a digest of
# the actions of each iteration before the region, in it and after it, by iteration, and the values
# of all variables after the loop. With `dependent` they are not independent: the code before the
# region, and in it, reads a global variable that the code after it writes. With `proof` the loops
# have no COSY_BATCH; for most of them, though not for all, the compiler can prove what it promises.

import random
import sys

HEADER = r"""
#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX = 400 };
static unsigned int trace0[MAX], trace1[MAX], trace2[MAX], trace3[MAX];
struct pair { int x, y; long long z; int more[5]; };

/* Note @value for iteration @it in @phase. */
#define NOTE(phase)                                                             \
	__attribute__((noinline)) static int note##phase(int it, int value)     \
	{                                                                       \
		trace##phase[it] = trace##phase[it] * 31 + value + 7;           \
		return value;                                                   \
	}
NOTE(0) NOTE(1) NOTE(2) NOTE(3)
__attribute__((noinline)) static int hash(int it, int salt)
{
	unsigned int h = it * 2654435761u + salt * 40503u;

	h ^= h >> 13;
	h *= 0x5bd1e995;
	return (h >> 15) & 0xfff;
}
__attribute__((noinline)) static void bump(int *p, int by) { *p += by; }
__attribute__((noinline)) static int sum(const struct pair *p)
{
	return p->x + p->y + (int)p->z + p->more[2];
}
__attribute__((noinline)) static void fill(struct pair *p, int v)
{
	memset(p, 0, sizeof(*p));
	p->x = v;
	p->more[2] = 3 * v;
}
/* Collecting may have begun iterations that a loop left early never came to. */
__attribute__((noinline)) static void forget(int from)
{
	memset(trace0 + from, 0, (MAX - from) * sizeof(*trace0));
	memset(trace1 + from, 0, (MAX - from) * sizeof(*trace1));
	memset(trace2 + from, 0, (MAX - from) * sizeof(*trace2));
	memset(trace3 + from, 0, (MAX - from) * sizeof(*trace3));
}
static const char *const names[] = { "/", "/nowhere", "/dev/null", "/dev/null/x", "/proc" };
"""

MAIN = r"""
static void show(const char *name, int result, int iterations)
{
	printf("%s: %d after %d\n", name, result, iterations);
	for (int it = 0; it < iterations; it++)
		printf(" %x.%x.%x.%x", trace0[it], trace1[it], trace2[it], trace3[it]);
	printf("\n");
	forget(0);
}
"""


class Loop:
    """One function with a loop."""

    def __init__(self, rng, number, dependent, proof):
        self.rng = rng
        self.number = number
        self.dependent = dependent
        self.proof = proof
        self.salt = number * 1000
        self.depth = 0
        # Variables by the phase that may write them: before, in and after the region, and those
        # that have a separate value in each iteration.
        self.a = [f"a{n}" for n in range(rng.randint(1, 3))]
        self.b = [f"b{n}" for n in range(rng.randint(0, 2))]
        self.c = [f"c{n}" for n in range(rng.randint(0, 2))]
        self.p = [f"p{n}" for n in range(rng.randint(0, 3))]
        self.q = [f"q{n}" for n in range(rng.randint(0, 2))]
        self.l = [f"l{n}" for n in range(rng.randint(1, 4))]
        self.s = [f"s{n}" for n in range(rng.randint(0, 2))]
        self.globals = [f"ga{number}", f"gc{number}"]
        # Exits to the same block: the returned value.
        self.kind = rng.choice(["for", "while", "do", "forever", "bare"])
        self.tail = rng.random() < (0.1 if proof else 0.4)
        self.exits = rng.random() < 0.7

    def number_in(self, most):
        return self.rng.randint(1, most)

    def salted(self):
        self.salt += 1
        return self.salt

    def readable(self, phase):
        names = self.a + self.p + self.l
        if self.dependent:
            names = names + [self.globals[1]] * 2
        if phase > 0:
            names = names + self.b + self.q
        if phase > 1:
            names = names + self.c
        return names + [f"{s}.{f}" for s in self.s for f in ("x", "y")]

    def writable(self, phase):
        own = [self.a, self.b, self.c][phase]
        names = own + self.p + self.l + [f"{s}.x" for s in self.s] + [f"{s}.y" for s in self.s]
        if phase > 0:
            names = names + self.q
        if phase == 0:
            names = names + [self.globals[0]]
        if phase == 2:
            names = names + [self.globals[1]] * (6 if self.dependent else 1)
        return names

    def value(self, phase):
        rng, names = self.rng, self.readable(phase)
        pick = rng.randint(0, 7)
        if pick == 0:
            return str(rng.randint(-9, 99))
        if pick == 1:
            return f"hash(it, {self.salted()})"
        if pick == 2:
            return f"({rng.choice(names)} > {rng.randint(0, 50)} && {rng.choice(names)} < 900 ? "\
                   f"{rng.choice(names)} : it)"
        if pick == 3 and self.s:
            return f"sum(&{rng.choice(self.s)})"
        if pick == 4:
            return f"({rng.choice(names)} ^ {rng.choice(names)})"
        return rng.choice(names)

    def condition(self, phase, odds):
        return f"hash(it, {self.salted()}) % {odds} == 0"

    def leave(self, phase, indent):
        """A statement that ends the iteration or the loop."""
        pick = self.rng.randint(0, 9)
        if pick < 4 or not self.exits or (self.proof and phase and self.rng.random() < 0.9):
            if self.tail and self.rng.random() < 0.5:
                return f"{indent}goto tail;\n"
            return f"{indent}continue;\n"
        if pick < 6:
            return f"{indent}break;\n"
        if pick < 7:
            return f"{indent}{{ result = {self.value(phase)}; goto out; }}\n"
        if pick < 8:
            return (f"{indent}{{ note{phase}(it, {self.value(phase)}); "
                    f"show(__func__, {self.value(phase)}, iter); return; }}\n")
        return f"{indent}goto out;\n"

    def statement(self, phase, indent, may_leave=True):
        rng = self.rng
        inner = indent + "\t"
        pick = rng.randint(0, 13)
        if pick < 4:
            return (f"{indent}{rng.choice(self.writable(phase))} "
                    f"{rng.choice(['=', '+=', '^='])} {self.value(phase)};\n")
        if pick < 6:
            return f"{indent}note{phase}(it, {self.value(phase)});\n"
        if pick == 6:
            return f"{indent}bump(&{rng.choice(self.l)}, {self.value(phase)});\n"
        if pick == 7 and self.s:
            return f"{indent}fill(&{rng.choice(self.s)}, {self.value(phase)});\n"
        if pick == 8 and may_leave:
            return (f"{indent}if ({self.condition(phase, rng.randint(5, 40))}) {{\n"
                    f"{inner}note{phase}(it, {self.value(phase)});\n"
                    f"{self.leave(phase, inner)}{indent}}}\n")
        if self.depth < 2:
            self.depth += 1
            if pick < 11:
                text = (f"{indent}if ({self.value(phase)} % 3) {{\n"
                        f"{self.statement(phase, inner, may_leave)}{indent}}} else {{\n"
                        f"{self.statement(phase, inner, may_leave)}{indent}}}\n")
            elif pick == 11:
                text = (f"{indent}for (int k = 0; k < {rng.randint(1, 4)}; k++) {{\n"
                        f"{self.statement(phase, inner, False)}{indent}}}\n")
            else:
                text = (f"{indent}switch ({self.value(phase)} & 3) {{\n"
                        f"{indent}case 0:\n{self.statement(phase, inner, False)}"
                        f"{inner}break;\n{indent}case 2:\n"
                        f"{self.statement(phase, inner, False)}"
                        f"{indent}default:\n{self.statement(phase, inner, False)}{indent}}}\n")
            self.depth -= 1
            return text
        return f"{indent}note{phase}(it, {self.value(phase)});\n"

    def call(self, indent):
        rng = self.rng
        target = rng.choice(self.l + self.q + self.b)
        call = rng.choice([
            "lstat(path, &st)", "access(path, F_OK)", "lstat(names[it % 5], &st)"] +
            (["stat(path, &st)"] if self.proof and rng.random() < 0.95 else
             ["lseek(-1 - (it & 1), 0, SEEK_SET)", "getpid() > 0"]))
        text = f"{indent}{target} = {call};\n"
        if rng.random() < 0.3:
            text += f"{indent}{rng.choice(self.l)} += errno;\n"
        return text

    def block(self, phase, indent, most):
        return "".join(self.statement(phase, indent) for _ in range(self.rng.randint(0, most)))

    def body(self, indent):
        rng = self.rng
        text = f"{indent}const int it = iter++;\n"
        if self.kind == "forever":
            text += f"{indent}if (iter > n)\n{indent}\tbreak;\n"
        marker = f"{indent}COSY_BATCH({rng.choice([0, 1, 2, 3, 4, 7, 64, 400])});\n"
        if self.proof:
            marker = ""
        first = rng.random() < 0.5
        text += marker if first else ""
        text += f"{indent}struct stat st = {{ 0 }};\n{indent}char path[32];\n"
        for name in self.l:
            volatile = "volatile " if rng.random() < (0.01 if self.proof else 0.1) and name != "l0" else ""
            text += f"{indent}{'' if volatile else ''}int {name} = {rng.randint(0, 9)} + it;\n"
        for name in self.s:
            text += f"{indent}struct pair {name} = {{ .x = it, .z = {rng.randint(1, 99)} }};\n"
        for name in self.p:
            text += f"{indent}{name} = it + {rng.randint(1, 99)};\n"
        text += marker if not first else ""
        if not self.proof or rng.random() < 0.1:
            text += f"{indent}errno = 0;\n"
        text += self.block(0, indent, 5)
        if self.proof and rng.random() < 0.9:
            text += f"{indent}strcpy(path, names[it % 5]);\n"
        else:
            text += f"{indent}snprintf(path, sizeof(path), \"%s\", names[it % 5]);\n"
        text += self.block(0, indent, 2)
        text += f"{indent}COSY_START;\n"
        for name in self.q:
            text += f"{indent}{name} = {self.value(0)};\n"
        for _ in range(rng.randint(1, 3)):
            text += self.call(indent)
            text += self.block(1, indent, 2)
        text += f"{indent}COSY_END;\n"
        text += f"{indent}note2(it, errno);\n"
        text += self.block(2, indent, 5)
        text += f"{indent}note2(it, (int)(st.st_mode + strlen(path)));\n"
        if self.tail:
            text += f"tail:\n{indent}note3(it, 5);\n"
            text += f"{indent}note3(it, {self.rng.choice(self.l)});\n"
        return text

    def source(self):
        rng = self.rng
        outer = self.a + self.b + self.c + self.p + self.q
        text = f"static int {self.globals[0]}, {self.globals[1]};\n"
        text += f"__attribute__((noinline)) static void loop{self.number}(int n)\n{{\n"
        text += "\tint iter = 0, result = -1;\n"
        text += "".join(f"\tint {name} = {rng.randint(0, 20)};\n" for name in outer)
        nested = rng.random() < 0.2
        indent = "\t\t" if not nested else "\t\t\t"
        if nested:
            text += "\tfor (int outer = 0; outer < 3; outer++) {\n\tn++;\n\tforget(iter);\n"
        # Only iterations that have been collected may have changed it.
        text += f"{indent[:-1]}{self.globals[0]} = 0;\n"
        step = f"{rng.choice(self.a)} += {rng.randint(1, 3)}"
        if self.kind == "for":
            text += f"\tfor (; iter < n; {step}) {{\n{self.body(indent)}\t}}\n"
        elif self.kind == "bare":
            text += f"\tfor (; iter < n;) {{\n{self.body(indent)}\t}}\n"
        elif self.kind == "while":
            text += f"\twhile (iter < n && ({step}, 1)) {{\n{self.body(indent)}\t}}\n"
        elif self.kind == "do":
            text += f"\tdo {{\n{self.body(indent)}\t}} while (({step}) && iter < n);\n"
        else:
            text += f"\twhile (1) {{\n{self.body(indent)}\t}}\n"
        if nested:
            text += "\t}\n"
        text += "\tresult = 1;\nout:\n"
        text += "".join(f"\tresult = result * 33 + {name};\n" for name in outer)
        text += "\tprintf(\"" + " ".join("%d" for _ in outer) + "\\n\", " + ", ".join(outer) + ");\n"
        text += f"\tresult += {self.globals[1]};\n"
        text += "\tshow(__func__, result, iter);\n}\n"
        return text


def main():
    rng = random.Random(int(sys.argv[1]))
    count = int(sys.argv[2])
    text = HEADER + MAIN
    for number in range(count):
        text += Loop(rng, number, "dependent" in sys.argv[3:],
                     "proof" in sys.argv[3:]).source()
    text += "int main(void)\n{\n\tstatic const int counts[] = { 0, 1, 2, 3, 5, 9, 40, 130 };\n\n"
    text += "\tfor (int k = 0; k < 8; k++) {\n"
    for number in range(count):
        text += f"\t\tloop{number}(counts[k]);\n"
    text += "\t}\n\treturn 0;\n}\n"
    print(text, end="")


main()
