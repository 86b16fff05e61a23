/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c - cosy_malloc() and its family: malloc() over the segments.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cosy.h>

#include "device/export.h"
#include "device/message.h"
#include "function/hooks.h"
#include "function/segment.h"

/* What malloc() promises: good for everything. */
#define ALIGNMENT _Alignof(max_align_t)

static void *allocate(size_t size, size_t alignment)
{
	struct cosy_segment *segment = cosy_segment_current();
	void *block = NULL;

	if (segment)
		block = cosy_segment_alloc(segment, size, alignment);
	if (!block)
		errno = ENOMEM;
	return block;
}

COSY_EXPORT void *cosy_malloc(size_t size)
{
	return allocate(size, ALIGNMENT);
}

COSY_EXPORT void *cosy_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	block = allocate(bytes, ALIGNMENT);
	if (block)
		memset(block, 0, bytes);
	return block;
}

COSY_EXPORT void *cosy_aligned_alloc(size_t alignment, size_t size)
{
	if (!alignment || alignment & (alignment - 1)) {
		errno = EINVAL;
		return NULL;
	}
	return allocate(size, alignment < ALIGNMENT ? ALIGNMENT : alignment);
}

/* As malloc() does: a program that goes on would corrupt memory. */
static __attribute__((noreturn)) void invalid(const char *function,
					      const void *block)
{
	struct cosy_hex address;

	cosy_message(function, ": invalid pointer ",
		     cosy_hex(&address, (uintptr_t)block),
		     ": not allocated by libcosy, or freed before", NULL);
	abort();
}

COSY_EXPORT size_t cosy_usable_size(const void *block)
{
	struct cosy_segment *segment = cosy_segment_of(block);

	return segment ? cosy_segment_size(segment, block) : 0;
}

COSY_EXPORT void *cosy_realloc(void *block, size_t size)
{
	struct cosy_segment *segment = cosy_segment_of(block);
	size_t has;
	void *other;

	if (!block)
		return cosy_malloc(size);
	if (!segment) {
		errno = EINVAL;
		return NULL;
	}
	if (!cosy_segment_has(segment, block))
		invalid("cosy_realloc()", block);
	/* In the same segment, whichever the thread has chosen meanwhile. */
	if (cosy_segment_resize(segment, block, size))
		return block;
	other = cosy_segment_alloc(segment, size, ALIGNMENT);
	if (!other) {
		errno = ENOMEM;
		return NULL;
	}
	has = cosy_segment_size(segment, block);
	memcpy(other, block, has < size ? has : size);
	if (!cosy_segment_free(segment, block))
		invalid("cosy_realloc()", block);
	return other;
}

static bool free_compound(struct cosy *compound)
{
	__auto_type hook = __atomic_load_n(&cosy_compound_free, __ATOMIC_ACQUIRE);

	return hook && hook(compound);
}

COSY_EXPORT void cosy_free(void *block)
{
	struct cosy_segment *segment = cosy_segment_of(block);

	if (!block)
		return;
	if (!(segment ? cosy_segment_free(segment, block) : free_compound(block)))
		invalid("cosy_free()", block);
}
