# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random user functions that compute with addresses of constants (which are copied for the kernel),
# of memory in the segment, and of local variables.
#
# source(seed) is a program whose main is main_SEED. A function prints distances, comparisons and
# contents of addresses, never an address. In some programs the address of a constant matters. The
# compiler may reject those, see refused().

import random
import re

from writer import Writer

HEADER = """\
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next, *other;
	const unsigned char *at;
	const void *kept;
	uint32_t key;
};

struct data {
	struct node nodes[16], *by_key[16];
	unsigned char text[256];
	uint32_t words[32];
};

struct entry {
	const char *name;
	const struct entry *next;
	const uint16_t *numbers;
	uint32_t value;
};

static const uint16_t numbers[40] = {
	3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4,
	6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 0, 2, 8, 8, 4, 1, 9, 7
};
static const char names[6][8] = { "alpha", "beta", "gamma", "delta", "epsilo", "" };
/* No one is the end of another: the linker might merge those. */
static const char *const words[] = { "first", "another", "x", names[2], "longer than it", NULL };
static const struct entry table[7] = {
	{ "zero", &table[2], numbers, 10 }, { "one", NULL, numbers + 7, 21 },
	{ "two", &table[5], numbers + 30, 32 }, { names[1], &table[1], numbers + 3, 43 },
	{ "four", &table[3], numbers + 11, 54 }, { "five", &table[6], numbers + 1, 65 },
	{ "six", &table[4], numbers + 20, 76 }
};

static uint32_t sum(const uint16_t *begin, const uint16_t *end)
{
	uint32_t result = 0;

	for (; begin != end; begin++)
		result = result * 3 + *begin;
	return result;
}

static uint32_t length(const unsigned char *bytes, size_t most)
{
	const unsigned char *p = bytes;

	while (p < bytes + most && *p)
		p++;
	return p - bytes;
}

static void fill(struct data *d, uint32_t seed)
{
	memset(d, 0, sizeof(*d));
	for (int i = 0; i < 255; i++) {
		seed = seed * 1664525 + 1013904223;
		d->text[i] = seed >> 30 ? 'a' + (seed >> 8) % 26 : 0;
	}
	for (int i = 0; i < 16; i++) {
		seed = seed * 1664525 + 1013904223;
		d->nodes[i].next = i < 15 ? &d->nodes[i + 1] : NULL;
		d->nodes[i].other = &d->nodes[seed >> 28];
		d->nodes[i].at = d->text + (seed >> 8) % 200;
		d->nodes[i].kept = i % 3 ? (const void *)names[i % 6] : d->text + i;
		d->nodes[i].key = seed;
		d->by_key[i] = &d->nodes[(seed >> 20) % 16];
		d->words[i] = seed >> 5;
	}
}

/* All but addresses, which are told as distances. */
static uint32_t sum_of(const struct data *d)
{
	uint32_t sum = 1;

	for (int i = 0; i < 256; i++)
		sum = sum * 31 + d->text[i];
	for (int i = 0; i < 16; i++)
		sum = sum * 31 + (uint32_t)(d->nodes[i].other - d->nodes) +
		      (uint32_t)(d->nodes[i].at - d->text) * 7 +
		      (uint32_t)(d->by_key[i] - d->nodes) * 11 + d->nodes[i].key;
	for (int i = 0; i < 32; i++)
		sum = sum * 31 + d->words[i];
	return sum;
}

"""
FLAGS = ["-w", "-fwrapv"]
NATIVE_CPU_MS = 2000

# The compiler's messages for a program in which the address of a constant matters.
REFUSALS = re.compile(r"error: (the address of .* is (compared|computed with)"
                      r"|in a COSY_FUNCTION: the address of constant data is handed out)")


class Function(Writer):
    """Statements that change these variables: s in names, or in any string; h in numbers; e
    in table; n in d->nodes; p in d->text; q in local; t in d->text or names."""

    def __init__(self, rng, name, asks):
        super().__init__(rng)
        self.asks = asks        # for code that the compiler may reject
        self.loops = 0
        self.index = ["x"]
        # With loaded addresses, the compared value must be known in another way.
        self.one_name = rng.random() < .5
        self.one_numbers = rng.random() < .5
        self.one_entry = rng.random() < .4
        self.emit_at(0, f"COSY_FUNCTION static uint64_t {name}(struct data *d, uint32_t x)", "{")
        self.emit("uint64_t v0 = x, v1 = 1, v2 = 0;",
                  "const char *s = names[x % 5], *strings[4] = { names[1], names[2], names[0], s };",
                  "const uint16_t *h = numbers + x % 32;",
                  "const struct entry *e = &table[x % 7];",
                  "struct node *n = &d->nodes[x % 16];",
                  "const unsigned char *p = d->text + x % 100, *t = p;",
                  "uint32_t local[8] = { x, 2, 3 }, *q = &local[x % 8];",
                  "uint32_t *parts[4] = { local, &local[2], q, &local[7] };")
        for _ in range(rng.randint(3, 8)):
            self.statement()
        self.emit("return v0 + v1 * 1000003 + v2 * 31 + (uint64_t)(q - local) * 7 + "
                  "(uint64_t)(n - d->nodes) * 13 + (uint64_t)(p - d->text) * 17 + (uint64_t)*s +"
                  " *h + e->value + *t;")
        self.emit_at(0, "}", "")

    def small(self):
        """A number whose remainder is computed."""
        return self.pick(*self.index, "v0", "v1", "v2", str(self.rng.randint(0, 50)), "e->value",
                         "n->key", "*h", "*q")

    def text(self):
        """The start of a string."""
        own = [f"names[{self.small()} % 6]", "names[3]", "names[0] + 1"]
        if not self.one_name:
            own += [f"words[{self.small()} % 5]", "e->name", "words[1]", "table[2].name",
                    f"strings[{self.small()} % 4]"]
        return self.pick(*own)

    def number(self):
        own = [f"numbers + {self.small()} % 40", f"&numbers[{self.rng.randint(0, 39)}]"]
        if not self.one_numbers:
            own += ["e->numbers", f"table[{self.small()} % 7].numbers + {self.small()} % 9"]
        return self.pick(*own)

    def entry(self):
        own = [f"&table[{self.small()} % 7]", "table + 4"]
        if not self.one_entry:
            own += ["(e->next ? e->next : table)", "table[2].next"]
        return self.pick(*own)

    def node(self):
        return self.pick("n->other", "(n->next ? n->next : d->nodes)", "n->other->other",
                         f"d->by_key[{self.small()} % 16]", f"&d->nodes[{self.small()} % 16]")

    def value(self):
        own = ["*s", "*h", "e->value", "n->key", "*p", "*q", "*t", "strlen(s)", "strrchr(s, *s) - s",
               "n->other->key",
               "n - d->nodes", "n->other - n", "p - d->text", "n->at - d->text",
               "(uintptr_t)n->at - (uintptr_t)d->text", "q - local", f"*parts[{self.small()} % 4]",
               "(uintptr_t)q - (uintptr_t)local", "parts[1] - parts[0]",
               f"length(p, {self.rng.randint(1, 40)})", "length((const unsigned char *)names[4], 8)",
               f"sum(numbers + {self.small()} % 20, numbers + 20 + {self.small()} % 20)",
               f"(strcmp(s, {self.text()}) < 0)", f"(strchr(s, '{self.pick('a', 'e', 't')}') != NULL)",
               f"(memcmp(p, names[{self.small()} % 6], {self.rng.randint(1, 7)}) > 0)",
               f"d->words[{self.small()} % 32]"]
        if self.one_numbers:
            own += ["h - numbers", "&numbers[40] - h", "(uintptr_t)h - (uintptr_t)numbers"]
        if self.one_name:
            own += ["s - names[0]"]
        if self.one_entry:
            own += ["e - table"]
        if self.asks and self.chance(.25):
            return self.pick("h - numbers", "e - table", "(uintptr_t)h - (uintptr_t)e->numbers",
                             "((uintptr_t)e - (uintptr_t)table) % 3",
                             "(uintptr_t)(numbers + x) - (uintptr_t)numbers")
        return self.pick(*own)

    def condition(self):
        own = [f"n {self.pick('<', '>', '==', '!=', '<=')} {self.node()}",
               f"p {self.pick('<', '>', '==', '>=')} n->at", "p == d->text + 7",
               f"q {self.pick('<', '>', '==', '!=')} &local[{self.small()} % 8]", "q == parts[2]",
               "e->next", "!e->next", "e == &table[3]", f"e == {self.entry()}", "e != e->next",
               f"{self.value()} & 1", f"{self.value()} < {self.value()}", "n->next == NULL",
               "s != NULL", "t != NULL", "n->other == n", "d->by_key[1] < d->by_key[2]"]
        if self.one_numbers:
            own += ["h == numbers + 5", "h < numbers + 20", "numbers + 3 >= h"]
        if self.one_name:
            own += ["s == names[2]", "s < names[3]"]
        if self.asks and self.chance(.25):
            return self.pick("h < e->numbers", "e < &table[4]", "n->kept == names[1]",
                             "n->kept == (const void *)s", "e >= e->next",
                             "(const void *)n == (const void *)e", "n->kept == (const void *)h")
        return self.pick(*own)

    def block(self):
        self.indent += 1
        for _ in range(self.rng.randint(1, 2)):
            self.statement()
        self.indent -= 1

    def assign(self):
        v = self.pick("v0", "v1", "v2")
        if self.asks and self.chance(.1):
            self.emit(self.pick("n->kept = s;", "n->kept = h;", "d->nodes[1].kept = names[2];",
                                "n->kept = e;", "return (uintptr_t)s == (uintptr_t)n->kept;"))
            return
        self.emit(self.pick(
            f"{v} += {self.value()};", f"{v} += {self.value()};", f"{v} = {v} * 31 + ({self.value()});",
            f"{v} ^= {self.value()};",
            f"s = {self.text()};", "if (*s)\n\ts++;", f"h = {self.number()};", f"e = {self.entry()};",
            f"n = {self.node()};", "p = n->at;", "if (p < d->text + 200)\n\tp += 3;",
            f"q = &local[{self.small()} % 8];", f"q = parts[{self.small()} % 4];",
            f"*q += {self.value()};", f"parts[{self.small()} % 4] = q;",
            f"strings[{self.small()} % 4] = {self.text()};",
            f"t = {self.condition()} ? p : (const unsigned char *)names[{self.small()} % 6];",
            f"n->other = {self.node()};", "n->at = p;", f"n->key += {self.value()};",
            f"d->by_key[{self.small()} % 16] = n;", f"d->words[{self.small()} % 32] ^= {v};",
            f"memcpy(d->text + {self.small()} % 200, names[{self.small()} % 6], 8);",
            f"memcpy(local, numbers + {self.small()} % 20, sizeof(local));",
            f"strcpy((char *)d->text + {self.small()} % 200, names[{self.small()} % 6]);"))

    def copied(self):
        """A structure with addresses, copied to the stack."""
        self.emit("{", f"\tstruct entry copy = table[{self.small()} % 7];",
                  f"\tv1 += copy.value + *copy.name + {self.pick('copy.numbers[2]', 'strlen(copy.name)')};",
                  "}")

    def loop(self):
        i = f"i{self.loops}"
        self.loops += 1
        self.emit(self.pick(
            f"for (uint32_t {i} = 0; {i} < {self.rng.randint(2, 20)}; {i}++) {{",
            f"for (const struct node *{i} = d->nodes; {i}; {i} = {i}->next) {{",
            f"for (const struct entry *{i} = table; {i}; {i} = {i}->next) {{",
            f"for (const char *{i} = names[{self.rng.randint(0, 4)}]; *{i}; {i}++) {{",
            f"for (const char *const *{i} = words; *{i}; {i}++) {{",
            f"for (uint32_t *{i} = local; {i} < local + 8; {i}++) {{",
            f"for (const uint16_t *{i} = numbers + 2; {i} != numbers + 9; {i}++) {{"))
        number = "uint32_t" in self.lines[-1] and "*" not in self.lines[-1]
        if number:
            self.index.append(i)
        else:
            # The target of the pointer; as a word, the string's first byte.
            deref = f"{i}->key" if "node" in self.lines[-1] else \
                f"{i}->value" if "entry" in self.lines[-1] else \
                f"**{i}" if "const *" in self.lines[-1] else f"*{i}"
            self.emit(f"\tv2 = v2 * 7 + {deref};")
        self.block()
        self.emit("}")
        if number:
            self.index.remove(i)

    def statement(self):
        kind = self.rng.random()
        if kind < .5 or self.indent > 3:
            self.assign()
        elif kind < .75:
            self.emit(f"if ({self.condition()}) {{")
            self.block()
            if self.chance(.3):
                self.emit("} else {")
                self.block()
            self.emit("}")
        elif kind < .82:
            self.copied()
        elif self.loops < 3:
            self.loop()
        else:
            self.assign()


def asks(seed):
    return random.Random(f"asks {seed}").random() < .3


def refused(seed, message):
    """Return true if the compiler may reject this program with this message."""
    errors = [line for line in message.splitlines() if "error: " in line]
    return asks(seed) and bool(errors) and all(REFUSALS.search(line) for line in errors)


def source(seed):
    rng = random.Random(seed)
    text = "\n".join(Function(rng, "function", asks(seed)).lines)
    text += f"""
int main(void)
{{
	struct data *d = cosy_malloc(sizeof(*d));
	uint64_t r;

	/* The first call has the function loaded. */
	for (int i = 0; i < 6; i++) {{
		fill(d, i * {rng.randint(1, 1000)});
		r = 0;
		COSY_START;
		getppid();
		r = function(d, i * {rng.randint(1, 99)});
		COSY_END;
		printf("function %d: %llx %x\\n", i, (unsigned long long)r, sum_of(d));
	}}
	return 0;
}}
"""
    return (f"/* addresses.py, seed {seed} */\n" +
            re.sub(r"\b(function|main)\b", rf"\1_{seed}", text))
