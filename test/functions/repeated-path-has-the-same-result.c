// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The usual path of a loop is repeated several times in the program, and is left at each
 * match. It has the same result in each of these iterations.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=STATS %s < %t.err
// STATS-NOT: runs natively
// STATS-DAG: function utf8: executor=kernel
// STATS-DAG: function fields: executor=kernel
// RUN: %clang -O2 -DCODE -c %s -o %t.o
// RUN: llvm-objcopy --dump-section .cosy.functions=%t.elf %t.o /dev/null
// RUN: llvm-objdump -d --no-show-raw-insn %t.elf | %FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef CODE

// Four bytes are compared between two checks of the budget.
// CHECK: may_goto
// CHECK: *(u8 *)(r[[R:[0-9]+]] + 0x1)
// CHECK-NEXT: if w{{[0-9]+}} {{[!=]}}= 0x22 goto
// CHECK-NOT: may_goto
// CHECK: *(u8 *)(r[[R]] + 0x3)
COSY_FUNCTION size_t quotes(const unsigned char *p, size_t n, unsigned char *to)
{
	size_t quotes = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i] == '"') {
			to[quotes++] = (unsigned char)i;
			while (i + 1 < n && p[i + 1] == ' ')
				i++;
		}
	return quotes;
}

#else

#define LOOP(name, ...)	COSY_FUNCTION static uint64_t name(__VA_ARGS__)
#include "../../bench/common/loops.h"

#define SIZE	64

static struct {
	struct loops_table table;
	unsigned char text[SIZE], word[8], set[8];
} *d;

/* Run all functions on the text. */
static void run(size_t n)
{
	const unsigned char *p = d->text;
	uint64_t r[9];

	COSY_START;
	getppid();
	r[0] = crc32(p, n, &d->table);
	r[1] = adler32(p, n);
	r[2] = byte(p, n, '<');
	r[3] = word(p, n, d->word, 3);
	r[4] = utf8(p, n);
	r[5] = lines(p, n);
	r[6] = set(p, n, d->set);
	r[7] = fields(p, n);
	r[8] = hash(p, n);
	COSY_END;
	for (size_t i = 0; i < 9; i++)
		printf("%llx ", (unsigned long long)r[i]);
	puts("");
}

int main(void)
{
	/* The matches: blanks, quotes, the word and its prefixes, UTF-8 and other bytes. */
	static const char *const found[] = {
		" ", "\n", "\"", "\" \"", "<", "&", "nee", "ne", "n", "\xc3\xa4", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80", "\xe0\x80\x80", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	};

	d = cosy_calloc(1, sizeof(*d));
	memcpy(d->word, "nee", 3);
	memcpy(d->set, "&<>", 3);
	for (uint32_t i = 0; i < 256; i++)
		d->table.of[i] = i * 2654435761u;
	for (size_t f = 0; f < sizeof(found) / sizeof(*found); f++)
		for (size_t at = 0; at < 20; at++) {
			memset(d->text, 'x', SIZE);
			memcpy(d->text + at, found[f], strlen(found[f]));
			memcpy(d->text + 2 * at + 5, found[f], strlen(found[f]));
			run(SIZE);
			/* The end is in each of the iterations, too. */
			run(at + 3);
		}
	return 0;
}

#endif
