/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * compound.c - compounds by hand: cosy_init(), cosy_run().
 *
 * A struct cosy is a region without a place in a program, hence without native
 * code and up-calls.
 */
#include <cosy.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/verify.h>

#include "export.h"
#include "held.h"
#include "region.h"
#include "stats.h"

struct cosy {
	struct cosy_region region;
	uint64_t image[];
};

static _Thread_local char error_text[160];

static const struct cosy_header *header_of(const struct cosy *compound)
{
	return (const void *)compound->image;
}

static uint64_t data_address(const struct cosy *compound)
{
	const struct cosy_header *header = header_of(compound);

	return (uintptr_t)compound->image + header->size - header->data_size;
}

static const char *name_of(const struct cosy *compound)
{
	const struct cosy_header *header = header_of(compound);
	const char *name = (const char *)compound->image + header->size -
			   header->data_size - header->strings_size +
			   header->name;

	return *name ? name : "compound";
}

static struct cosy *invalid(const struct cosy_diag *diag)
{
	snprintf(error_text, sizeof(error_text), "offset %u: %s", diag->offset,
		 diag->reason);
	errno = EINVAL;
	return NULL;
}

COSY_EXPORT struct cosy *cosy_init(const void *image, size_t size)
{
	const struct cosy_header *header;
	struct cosy *compound;
	struct cosy_diag diag;

	error_text[0] = '\0';
	if (size > COSY_MAX_SIZE)
		return invalid(&(struct cosy_diag){
			.reason = "image too large",
			.offset = offsetof(struct cosy_header, size),
		});
	compound = calloc(1, sizeof(*compound) + size);
	if (!compound)
		goto no_memory;
	memcpy(compound->image, image, size);
	if (cosy_verify(compound->image, size, &diag)) {
		free(compound);
		return invalid(&diag);
	}
	header = header_of(compound);
	compound->region = (struct cosy_region){
		.abi = COSY_REGION_ABI,
		.mode = COSY_MODE_DECIDE,
		.image = compound->image,
		.size = (uint32_t)size,
		.nregs = header->nregs,
		.nthunks = header->nupcalls,
		.file = name_of(compound),
	};
	/* Here rather than at the first run, which then cannot fail. */
	if (cosy_held_get(&compound->region,
			  cosy_region_executor(&compound->region), &diag))
		return compound;
	free(compound);
no_memory:
	snprintf(error_text, sizeof(error_text), "out of memory");
	errno = ENOMEM;
	return NULL;
}

COSY_EXPORT int64_t cosy_run(struct cosy *compound, uint64_t *frame)
{
	const struct cosy_header *header = header_of(compound);
	uint64_t regs[header->nregs + 1];
	int64_t exit;

	if (header->nupcalls) {
		errno = ENOTSUP;
		return -1;
	}
	memcpy(regs, frame, header->ninputs * sizeof(*regs));
	if (header->data_size)
		regs[header->ninputs - 1] = data_address(compound);
	exit = cosy_region_run(&compound->region, regs);
	memcpy(frame + header->out_first, regs + header->out_first,
	       header->nout * sizeof(*regs));
	return exit;
}

void cosy_compound_free(struct cosy *compound)
{
	cosy_stats_print(&compound->region);
	cosy_held_free(&compound->region);
	free(compound);
}

COSY_EXPORT const char *cosy_error(void)
{
	return error_text;
}
