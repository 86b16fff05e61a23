# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random user functions: loops over bytes that search, count, keep a state, and sometimes write.
#
# source(seed) is a program whose main is main_SEED. Each function is called in regions, on several
# texts in the segment.

import random
import re

from writer import Writer

HEADER = """\
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct data {
	unsigned char text[1200], set[16], out[256];
	uint32_t table[256], words[64];
};

/* Letters, blanks, digits and whatever, of which some are usual. */
static void fill(struct data *d, uint32_t seed)
{
	static const char usual[] = "aaabbcdee  \\n,;:0129\\"\\\\{}";

	memset(d, 0, sizeof(*d));
	for (int i = 0; i < 1199; i++) {
		seed = seed * 1664525 + 1013904223;
		d->text[i] = seed >> 29 ? usual[(seed >> 8) % (sizeof(usual) - 1)] : seed >> 16;
	}
	for (int i = 0; i < 15; i++)
		d->set[i] = usual[(seed >> i) % (sizeof(usual) - 1)];
	for (int i = 0; i < 256; i++)
		d->table[i] = seed = seed * 1664525 + 1013904223;
}

static uint32_t sum_of(const struct data *d)
{
	const unsigned char *p = (const unsigned char *)d;
	uint32_t sum = 1;

	for (size_t i = 0; i < sizeof(*d); i++)
		sum = sum * 31 + p[i];
	return sum;
}

"""
FLAGS = ["-w", "-fwrapv"]
NATIVE_CPU_MS = 2000

TYPES = ["uint64_t", "uint32_t", "int", "long", "unsigned char", "uint16_t", "int8_t"]
BYTES = ["'a'", "'b'", "' '", "'\\n'", "','", "'0'", "'\"'", "'\\\\'", "0", "0x80", "255"]


class Function(Writer):
    def __init__(self, rng, name):
        super().__init__(rng)
        self.depth = 0
        self.indices = []     # of the enclosing loops
        self.names = 0
        self.state = [f"v{i}" for i in range(rng.randint(2, 4))]
        self.writes = rng.random() < .4
        const = "" if self.writes else "const "
        self.emit_at(0, f"COSY_FUNCTION static uint64_t {name}({const}struct data *d, size_t n, "
                     "uint32_t a)", "{")
        self.emit("const unsigned char *p = d->text;", "size_t at = 0;")
        for v in self.state:
            self.emit(f"{self.pick(*TYPES)} {v} = {self.pick('0', '0', '1', 'a', '-1')};")
        for _ in range(rng.randint(1, 2)):
            self.loop()
        self.emit("return at * 1000003 + " + " + ".join(
            f"(uint64_t){v} * {i + 7}" for i, v in enumerate(self.state)) + ";")
        self.emit_at(0, "}", "")

    def byte(self):
        """A byte of the data."""
        i = self.pick(*self.indices) if self.indices else "at"
        return self.pick(f"p[{i}]", f"p[{i}]", f"p[{i}]", f"p[{i} + {self.rng.randint(1, 3)}]",
                         f"d->set[{i} % 16]", f"p[({self.value(1)} & 1023)]")

    def value(self, depth=0):
        if depth > 1 or self.chance(.3):
            return self.pick(*self.state, *self.indices, "a", "at",
                             str(self.rng.randint(-3, 300)))
        if self.chance(.25) and self.indices:
            return self.byte()
        x, y = self.value(depth + 1), self.value(depth + 1)
        return self.pick(f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} ^ {y})",
                         f"({x} & {y})", f"({x} | {y})", f"((uint64_t){x} >> ({y} & 7))",
                         f"((uint64_t){x} << ({y} & 7))",
                         f"((uint32_t){x} / ((uint32_t){y} | 1))",
                         f"((int64_t)(int32_t){x} % 7)",
                         f"d->table[{x} & 255]", f"({x} < {y} ? {x} : {y})")

    def condition(self):
        b = self.byte()
        one = self.pick(f"{b} == {self.pick(*BYTES)}", f"{b} != {self.pick(*BYTES)}",
                        f"{b} >= '0' && {b} <= '9'", f"{b} >> 6 == 2", f"{b} < 0x80",
                        f"{b} == {self.byte()}",
                        f"{self.pick(*self.state)}", f"!{self.pick(*self.state)}",
                        f"{self.pick(*self.state)} == {self.rng.randint(0, 3)}",
                        f"{self.value(1)} {self.pick('<', '>', '==', '!=', '<=')} {self.value(1)}")
        if self.chance(.3):
            return f"({one}) {self.pick('&&', '||')} ({self.condition()})"
        return one

    def assign(self):
        v = self.pick(*self.state)
        self.emit(self.pick(
            f"{v}++;", f"{v}++;", f"{v} = !{v};", f"{v} = {self.rng.randint(0, 3)};",
            f"{v} += {self.value(1)};", f"{v} = {self.value()};",
            f"{v} = ({v} ^ {self.byte()}) * 16777619;", f"at = {self.pick(*self.indices, 'at')} & 1023;"))

    def block(self, size):
        self.indent += 1
        for _ in range(self.rng.randint(1, size)):
            self.statement()
        self.indent -= 1

    def statement(self):
        kind = self.rng.random()
        if kind < .4 or self.indent > 5:
            self.assign()
        elif kind < .75:
            self.emit(f"if ({self.expect(self.condition())}) {{")
            self.block(2)
            if self.chance(.35):
                self.emit("} else {")
                self.block(2)
            self.emit("}")
        elif kind < .82:
            self.emit(f"if ({self.condition()})")
            self.emit("\t" + self.pick("continue;", "break;", "continue;",
                                       f"return {self.value()};"))
        elif kind < .88 and self.writes:
            self.emit(self.pick(f"d->out[{self.value(1)} & 255] = {self.value(1)};",
                                f"d->words[{self.value(1)} & 63] += {self.value(1)};"))
        elif kind < .92:
            self.emit(f"switch ({self.byte()}) {{")
            for case in self.rng.sample(BYTES, self.rng.randint(1, 4)):
                self.emit(f"case {case}:")
                self.block(1)
                if self.chance(.7):
                    self.emit("\tbreak;")
            self.emit("default:", "\t;", "}")
        elif self.depth < 2:
            self.loop()
        else:
            self.assign()

    def expect(self, condition):
        return f"__builtin_expect({condition}, {self.rng.randint(0, 1)})" \
            if self.chance(.1) else condition

    def loop(self):
        i = f"i{self.names}"
        self.names += 1
        outer = self.pick(*self.indices) if self.indices else None
        end = self.pick("n", "n", "n", str(self.rng.randint(2, 40))) if not outer else self.pick(
            f"{outer} + {self.rng.randint(2, 9)}", str(self.rng.randint(2, 12)), "16", "d->set[1] % 8")
        begin = self.pick("0", "0", "1") if not outer or not end.startswith(outer) else outer
        kind = self.rng.random()
        self.depth += 1
        if kind < .7:
            self.emit(f"for ({self.pick('size_t', 'size_t', 'uint32_t')} {i} = {begin}; {i} < {end}; "
                      f"{self.pick(f'{i}++', f'{i}++', f'{i} += 1 + ({self.pick(*self.state)} & 1)')}) {{")
            self.indices.append(i)
            self.block(3)
            self.emit("}")
        else:
            # It ends after the text at the latest.
            self.emit("{", f"\tsize_t {i} = {begin};", "",
                      f"\twhile ({i} < 1150 && ({i} < {end} || {self.pick('0', f'p[{i}] == 97')})) {{")
            self.indent += 1
            self.indices.append(i)
            self.emit(f"\t{i}++;")
            self.block(3)
            self.indent -= 1
            self.emit("\t}", "}")
        self.indices.remove(i)
        self.depth -= 1


def source(seed):
    rng = random.Random(seed)
    count = rng.randint(1, 2)
    text = "\n".join("\n".join(Function(rng, f"function{n}").lines) for n in range(count))
    text += "\nint main(void)\n{\n\tstruct data *d = cosy_malloc(sizeof(*d));\n\tuint64_t r;\n"
    for n in range(count):
        # The first call loads the function.
        text += f"""
	for (int i = 0; i < 6; i++) {{
		fill(d, i * {rng.randint(1, 1000)});
		r = 0;
		COSY_START;
		getppid();
		r = function{n}(d, {rng.choice(['i * 17', '1000', 'i * 200'])}, i * {rng.randint(0, 99)});
		COSY_END;
		printf("function{n} %d: %llx %x\\n", i, (unsigned long long)r, sum_of(d));
	}}
"""
    text += "\treturn 0;\n}\n"
    return (f"/* functions.py, seed {seed} */\n" +
            re.sub(r"\b(function\d+|main)\b", rf"\1_{seed}", text))
