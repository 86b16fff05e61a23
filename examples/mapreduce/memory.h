// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * memory.h - memory that is allocated in small pieces and freed at once, from ranges or by malloc().
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#include <cosy/range.h>

/* Where memory comes from; without @ranges, from malloc(). */
struct source {
	struct cosy_ranges *ranges;
};

/* Memory of a chunk or part. One thread at a time uses it. */
struct memory {
	struct source *source;
	struct cosy_range *ranges;
	void *blocks;
	size_t used;
};

/** memory_allocate() - allocate @size bytes, at most 256 KiB; exits if there is no memory */
void *memory_allocate(struct memory *memory, size_t size);

/** memory_free() - free all that was allocated */
void memory_free(struct memory *memory);

#endif /* MEMORY_H */
