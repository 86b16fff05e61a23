// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * fuzz-exec.c - libFuzzer target: execute valid compounds, compare with the reference.
 *
 * An input that is a compound is executed unchanged. Any other input is converted to one.
 */
#include <stdlib.h>
#include <string.h>

#include <cosy/format.h>

#include "check.h"
#include "generate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint32_t magic = 0;
	uint64_t seed = n;
	size_t size = n;
	void *image;

	if (n >= sizeof(magic))
		memcpy(&magic, bytes, sizeof(magic));
	if (magic == COSY_MAGIC) {
		image = malloc(n);
		if (!image)
			abort();
		memcpy(image, bytes, n);
	} else {
		if (n >= sizeof(seed))
			memcpy(&seed, bytes, sizeof(seed));
		image = generate_compound(bytes, n, &size);
	}
	check_compound(image, size, seed);
	free(image);
	return 0;
}
