// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * check-random.c - check random compounds.
 *
 *	check-random [COUNT [SEED]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "generate.h"

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Read a number. Exit with the usage if it is none. */
static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (end != text && !*end)
		return value;
	fputs("usage: check-random [COUNT [SEED]]     (default: 10000 1)\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? number(argv[1]) : 10000;
	uint64_t state = argc > 2 ? number(argv[2]) : 1;
	uint64_t compounds = 0, steps = 0, done, i, n, j;
	uint8_t bytes[2048];
	size_t size;
	void *image;

	for (i = 0; i < count; i++) {
		n = 16 + next(&state) % (sizeof(bytes) - 16);
		for (j = 0; j < n; j++)
			bytes[j] = (uint8_t)next(&state);
		image = generate_compound(bytes, n, &size);
		done = check_compound(image, size, next(&state));
		compounds += done > 0;
		steps += done;
		free(image);
	}
	printf("%" PRIu64 " compounds ran to their end in %" PRIu64
	       " operations, the same everywhere\n", compounds, steps);
	/* If fewer than half run to their end, the generator is not useful. */
	return compounds * 2 > count ? 0 : 1;
}
