// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct cosy *image_load(const struct cosy_op *ops, unsigned int nops,
			unsigned int nregs, unsigned int ninputs)
{
	const size_t ops_size = nops * sizeof(*ops);
	/* The string table holds the empty name. */
	const size_t size = sizeof(struct cosy_header) + ops_size + 1;
	struct cosy_header header = {
		.magic = COSY_MAGIC,
		.version = COSY_VERSION,
		.nregs = (cosy_u16)nregs,
		.size = (cosy_u32)size,
		.nops = nops,
		.strings_size = 1,
		.ninputs = (cosy_u16)ninputs,
		.out_first = 0,
		.nout = 1,
		.nexits = 1,
		.limit = COSY_DEFAULT_LIMIT,
	};
	char *image = calloc(1, size);
	struct cosy *compound;

	if (!image)
		bench_die("image");
	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), ops, ops_size);
	compound = cosy_init(image, size);
	if (!compound) {
		fprintf(stderr, "cosy_init: %s\n", cosy_error());
		exit(1);
	}
	free(image);
	return compound;
}
