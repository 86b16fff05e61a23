// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * functions: user functions in the kernel, compared with the same C compiled by gcc -O2.
 * An iteration is a call on 8 KiB.
 */

#include <cosy.h>
#include <string.h>

#include "../common/bench.h"

#define LOOP(name, ...)							\
	uint64_t gcc_##name(__VA_ARGS__);				\
	COSY_FUNCTION static uint64_t name(__VA_ARGS__)
#include "../common/loops.h"

#define SIZE	8192

static unsigned char *text;
static unsigned char *needle, *marks;
static struct loops_table *table;

/* Define the loop with the region, and the loop with the function compiled by gcc. */
#define WAYS(name, ...)							\
static uint64_t region_##name(uint64_t count)				\
{									\
	const unsigned char *p = text;					\
	uint64_t sum = 0, i;						\
									\
	COSY_START;							\
	for (i = 0; i < count; i++)					\
		sum += name(p, SIZE __VA_OPT__(,) __VA_ARGS__);		\
	COSY_END;							\
	return sum;							\
}									\
									\
static uint64_t native_##name(uint64_t count)				\
{									\
	uint64_t sum = 0;						\
									\
	for (uint64_t i = 0; i < count; i++)				\
		sum += gcc_##name(text, SIZE __VA_OPT__(,) __VA_ARGS__); \
	return sum;							\
}

WAYS(crc32, table)
WAYS(adler32)
WAYS(byte, '#')
WAYS(word, needle, 6)
WAYS(utf8)
WAYS(lines)
WAYS(set, marks)
WAYS(fields)
WAYS(hash)

/* Make words. Every sixth is not ASCII. */
static void prepare(void)
{
	static const char *const words[] = {
		"the ", "natural ", "bread\n", "need ", "m\u00fc\u00dfte ", "\u20ac9 ",
	};
	uint32_t random = 1;
	size_t n = 0;

	text = cosy_malloc(SIZE);
	needle = cosy_malloc(8);
	marks = cosy_malloc(8);
	table = cosy_malloc(sizeof(*table));
	if (!text || !needle || !marks || !table)
		bench_die("cosy_malloc");
	memset(text, ' ', SIZE);
	for (;;) {
		const char *next = words[(random >> 16) % 6];

		random = random * 1103515245 + 12345;
		if (n + strlen(next) > SIZE)
			break;
		memcpy(text + n, next, strlen(next));
		n += strlen(next);
	}
	memcpy(needle, "needle", 7);
	memcpy(marks, "<>&\"", 5);
	for (uint32_t i = 0; i < 256; i++) {
		table->of[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table->of[i] = table->of[i] >> 1 ^ (table->of[i] & 1 ? 0xedb88320 : 0);
	}
}

#define FUNCTION(NAME) \
	{ .name = "fn-" #NAME, .per = "8 KiB", .count = 50, .region = region_##NAME, \
	  .native = native_##NAME, .expected = native_##NAME }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		FUNCTION(crc32), FUNCTION(adler32), FUNCTION(byte), FUNCTION(word),
		FUNCTION(utf8), FUNCTION(lines), FUNCTION(set), FUNCTION(fields),
		FUNCTION(hash), { 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
