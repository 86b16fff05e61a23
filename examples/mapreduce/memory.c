// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * memory.c - memory that is allocated in small pieces and freed at once.
 */
#include "memory.h"
#include "../common/allocated.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

/* A block of malloc(). The C library maps each, and frees it by munmap(). */
struct block {
	struct block *next;
	char bytes[] __attribute__((aligned(16)));
};

static void *from_block(struct memory *memory, size_t size)
{
	struct block *block = memory->blocks;

	memory->used = (memory->used + 15) & ~(size_t)15;
	if (!block || size > BLOCK - sizeof(*block) - memory->used) {
		block = allocated(malloc(BLOCK), 1);
		block->next = memory->blocks;
		memory->blocks = block;
		memory->used = 0;
	}
	memory->used += size;
	return block->bytes + memory->used - size;
}

void *memory_allocate(struct memory *memory, size_t size)
{
	struct cosy_range *range = memory->ranges;
	void *p;

	if (!memory->source->ranges)
		return from_block(memory, size);
	p = range ? cosy_range_alloc(range, size) : NULL;
	if (p)
		return p;
	range = cosy_range_take(memory->source->ranges);
	if (!range)
		error(1, errno, "cannot go on");
	range->next = memory->ranges;
	memory->ranges = range;
	return cosy_range_alloc(range, size);
}

void memory_free(struct memory *memory)
{
	while (memory->ranges) {
		struct cosy_range *range = memory->ranges;

		memory->ranges = range->next;
		cosy_range_free(memory->source->ranges, range);
	}
	while (memory->blocks) {
		struct block *block = memory->blocks;

		memory->blocks = block->next;
		free(block);
	}
}
