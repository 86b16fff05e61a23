/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * segment.h - the memory of user functions.
 *
 * Functions that change a segment take its lock. They are thread-safe, and not async-signal-safe.
 */
#ifndef COSY_SEGMENT_H
#define COSY_SEGMENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy.h>

#include "device/descriptor.h"
#include "function/heap.h"

/* The low 32 bits of an address are its offset in a segment. */
#define COSY_SEGMENT_SPAN	((uint64_t)1 << 32)

/* Inaccessible at both ends: NULL and addresses near it, and those just after the end. */
#define COSY_SEGMENT_GUARD	((uint64_t)65536)

/* All blocks are aligned to this. */
#define COSY_BLOCK_ALIGNMENT	16

/**
 * struct cosy_segment - a segment
 * @lock:    protects the other members
 * @base:    its address, a multiple of COSY_SEGMENT_SPAN
 * @limit:   end of the memory that it may ever have
 * @end:     end of the memory that it has now, which begins after the first guard
 * @map:     descriptor of its arena; negative if it is ordinary memory, which functions in the
 *	     kernel cannot use
 * @error:   -errno if an arena was wanted and could not be made, otherwise 0
 * @heap:    its allocator
 * @blocks:  bit n is set if a block begins at @base + n * COSY_BLOCK_ALIGNMENT
 * @present: bit n is set if page n is known to be present for the kernel
 * @copy:    during a fork: a copy of its memory, without the guards
 * @next:    of those that are being made or destroyed
 */
struct cosy_segment {
	pthread_mutex_t lock;
	char *base;
	char *limit;
	char *end;
	int map;
	int error;
	struct cosy_heap *heap;
	uint64_t *blocks;
	uint64_t *present;
	char *copy;
	struct cosy_segment *next;
};

/** cosy_segment_mark() - return the mark of the descriptors of a segment: its arena, its programs */
static inline int cosy_segment_mark(const struct cosy_segment *segment)
{
	return 1 + (int)((uintptr_t)segment->base / COSY_SEGMENT_SPAN % COSY_MARKS);
}

/**
 * cosy_segment_of() - find the segment of an address
 * @p: any address
 *
 * Return: the segment, or NULL. Thread-safe, async-signal-safe.
 */
struct cosy_segment *cosy_segment_of(const void *p);

/**
 * cosy_segment_alloc() - allocate a block
 * @segment:   the segment
 * @size:      its size in bytes
 * @alignment: a power of two
 *
 * All pages of the block are present for the kernel, too.
 *
 * Return: the block, for cosy_segment_free(); or NULL.
 */
void *cosy_segment_alloc(struct cosy_segment *segment, size_t size,
			 size_t alignment);

/** cosy_segment_current() - return the segment of this thread's allocations; NULL without memory */
struct cosy_segment *cosy_segment_current(void);

/** cosy_segment_resize() - make a block at least @size bytes long without moving it; or false */
bool cosy_segment_resize(struct cosy_segment *segment, void *block,
			 size_t size);

/** cosy_segment_size() - return the number of bytes of a block that can be used */
size_t cosy_segment_size(struct cosy_segment *segment, const void *block);

/**
 * cosy_segment_has() - test whether a block begins at an address
 * @block: any address in the segment
 */
bool cosy_segment_has(struct cosy_segment *segment, const void *block);

/**
 * cosy_segment_free() - free a block
 * @block: any address in the segment
 *
 * Return: false if no block begins there.
 */
bool cosy_segment_free(struct cosy_segment *segment, void *block);

/**
 * cosy_segment_want_arenas() - make segments that functions in the kernel can use from now on
 *
 * Only if the process has the privileges.
 */
void cosy_segment_want_arenas(void);

/**
 * cosy_segment_each() - call a function for each segment
 * @visit: called with the segment and @data; must not make or destroy segments
 * @data:  for @visit
 */
void cosy_segment_each(void (*visit)(struct cosy_segment *segment, void *data),
		       void *data);

/**
 * cosy_segments_unload() - free all segments, because this copy of libcosy is unloaded
 *
 * The memory of those with blocks stays, because the program may still have pointers to them. There is no
 * other thread.
 */
void cosy_segments_unload(void);

/**
 * cosy_segment_prepare - called after the arena of a segment was made, without locks
 *
 * It may wait for a thread that loads a library, whose constructors may take locks of libcosy. NULL if there
 * are no functions. Set once, before there are arenas.
 */
extern void (*cosy_segment_prepare)(void) __attribute__((visibility("hidden")));

/**
 * cosy_segment_made - called with a new segment, before other threads can find it
 *
 * NULL if there are no functions. Set once, before there are arenas.
 */
extern void (*cosy_segment_made)(struct cosy_segment *segment)
	__attribute__((visibility("hidden")));

/**
 * cosy_segment_forget - called with a segment before it is destroyed
 *
 * NULL if there are no functions. Set once, before there are arenas.
 */
extern void (*cosy_segment_forget)(struct cosy_segment *segment)
	__attribute__((visibility("hidden")));

/**
 * cosy_segment_lock_functions - called before and after a fork
 * @lock: true before the fork, with the table of segments locked; false after it, in both
 *	  processes
 *
 * NULL if there are no functions.
 */
extern void (*cosy_segment_lock_functions)(bool lock)
	__attribute__((visibility("hidden")));

#endif /* COSY_SEGMENT_H */
