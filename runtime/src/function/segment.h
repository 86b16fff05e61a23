/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * segment.h - what the parts of libcosy know of segments.
 */
#ifndef COSY_SEGMENT_H
#define COSY_SEGMENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy.h>

#include "function/heap.h"

/* The low 32 bits of addresses are places in a segment. */
#define COSY_SEGMENT_SPAN	((uint64_t)1 << 32)

/* Not to be had at both ends: NULL and near it, and what is just outside. */
#define COSY_SEGMENT_GUARD	((uint64_t)65536)

/* All blocks are aligned to this. */
#define COSY_BLOCK_ALIGNMENT	16

/**
 * struct cosy_segment - a segment
 * @lock:    of what follows
 * @base:    its address, a multiple of COSY_SEGMENT_SPAN
 * @limit:   where memory ends that it may have
 * @end:     where memory ends that it has, from the first guard on
 * @map:     descriptor of its arena; negative: ordinary memory, which no function
 *	     can run on in the kernel
 * @error:   -errno if it should have an arena and has none, otherwise 0
 * @heap:    what is allocated from it
 * @blocks:  bit n is set when a block begins at @base + n * COSY_BLOCK_ALIGNMENT
 * @present: bit n is set when page n is known to be there for the kernel
 * @copy:    while the process forks: a file with a copy of its memory
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
	int copy;
};

/**
 * cosy_segment_of() - the segment an address is in
 * @p: any address
 *
 * Return: it, or NULL. Thread-safe, async-signal-safe.
 */
struct cosy_segment *cosy_segment_of(const void *p);

/**
 * cosy_segment_alloc() - a block of a segment
 * @segment:   the segment
 * @size:      bytes
 * @alignment: a power of two
 *
 * All of it is there for the kernel, too.
 *
 * Return: it, or NULL. Thread-safe.
 */
void *cosy_segment_alloc(struct cosy_segment *segment, size_t size,
			 size_t alignment);

/** cosy_segment_current() - what this thread allocates from; NULL: no memory */
struct cosy_segment *cosy_segment_current(void);

/** cosy_segment_resize() - make a block at least so long where it is */
bool cosy_segment_resize(struct cosy_segment *segment, void *block,
			 size_t size);

/** cosy_segment_size() - bytes of a block that can be used */
size_t cosy_segment_size(struct cosy_segment *segment, const void *block);

/**
 * cosy_segment_has() - test whether a block begins here
 * @block: any address in the segment
 */
bool cosy_segment_has(struct cosy_segment *segment, const void *block);

/**
 * cosy_segment_free() - give a block back
 * @block: any address in the segment
 *
 * Return: false if no block begins there. Thread-safe.
 */
bool cosy_segment_free(struct cosy_segment *segment, void *block);

/**
 * cosy_segment_want_arenas() - segments made from now on are for functions, too
 *
 * Where there is the privilege for it. Thread-safe.
 */
void cosy_segment_want_arenas(void);

/**
 * cosy_segment_each() - call a function for each segment there is
 * @visit: called with the segment and @data; may not make or destroy segments
 * @data:  whatever it needs
 */
void cosy_segment_each(void (*visit)(struct cosy_segment *segment, void *data),
		       void *data);

/**
 * cosy_segment_made - called with a new segment, before others know of it; NULL
 * if nobody wants to know. Set once, before there are arenas
 */
extern void (*cosy_segment_made)(struct cosy_segment *segment)
	__attribute__((visibility("hidden")));

/**
 * cosy_segment_forget - called with a segment that is about to go; NULL if
 * nobody wants to know. Set once, before there are arenas
 */
extern void (*cosy_segment_forget)(struct cosy_segment *segment)
	__attribute__((visibility("hidden")));

/**
 * cosy_segment_lock_functions - called with true before a fork, when the table is
 * locked, and with false after it in both processes; NULL if there are no functions
 */
extern void (*cosy_segment_lock_functions)(bool lock)
	__attribute__((visibility("hidden")));

#endif /* COSY_SEGMENT_H */
