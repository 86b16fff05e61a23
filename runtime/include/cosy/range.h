/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/range.h - memory that belongs to a worker, without page faults.
 *
 *	struct cosy_range *range = cosy_range_take(ranges);
 *	char *copy = cosy_range_alloc(range, size);
 *	...
 *	cosy_team_call(team, colour, reduce, range);	// now it belongs to that colour
 *	...
 *	cosy_range_free(ranges, range);			// in reduce(): to be taken again
 *
 * Threads share the address space of their process. A thread that allocates much memory, uses it once
 * and frees it takes page faults, changes the address space under a lock, and interrupts other CPUs so
 * that they forget translations. Ranges are parts of one mapping whose page tables are filled before.
 * A range that is freed keeps its pages. So taking, using and freeing one makes no system call and no
 * page fault, and each worker of a team has a list of its own.
 *
 * One thread at a time uses a range. Queueing a callback with its address gives it to another colour.
 * All threads may read what is in it.
 *
 * The address ranges of Boyd-Wickizer et al., "Corey: An Operating System for Many Cores", OSDI 2008.
 * See cosy_ranges_create(3).
 */
#ifndef COSY_RANGE_H
#define COSY_RANGE_H

/* A program in C++ may ask for warnings about what C needs, such as its casts. */
#ifdef __cplusplus
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_ranges - memory from which ranges are taken; opaque */
struct cosy_ranges;

/**
 * struct cosy_range - a piece of memory
 * @start: its first byte; at the beginning of a page
 * @size:  its size
 * @used:  bytes that cosy_range_alloc() has allocated; the program may set it, to 0 to use it again
 * @next:  for the program while the range is taken, NULL at first
 */
struct cosy_range {
	char *start;
	size_t size;
	size_t used;
	struct cosy_range *next;
};

/* Flags: ask for huge pages, if the size of a range is a multiple of 2 MiB. */
#define COSY_RANGES_HUGE	0x1u

/**
 * struct cosy_ranges_options - options of cosy_ranges_create()
 * @struct_size: sizeof(struct cosy_ranges_options)
 * @flags:	 COSY_RANGES_HUGE
 * @size:	 size of a range, rounded up to pages; 0: 1 MiB
 * @count:	 maximum number of ranges; 0: 1024. @count * @size is at most 2^46
 * @ready:	 number of ranges that are populated now; others are populated when they are first taken
 * @memory:	 @count * @size bytes of the program, populated and aligned to pages, for all ranges; it
 *		 must outlive them. Memory of cosy_aligned_alloc() (cosy.h) can be used by user
 *		 functions. NULL: address space is reserved
 */
struct cosy_ranges_options {
	uint32_t struct_size;
	uint32_t flags;
	size_t size;
	uint32_t count;
	uint32_t ready;
	void *memory;
};

/**
 * cosy_ranges_create() - reserve memory for ranges
 * @ranges:  out: the ranges, to be freed by cosy_ranges_destroy()
 * @options: options; NULL: the defaults
 *
 * Reserves address space, unless the program has memory. A range takes memory from when it is populated.
 *
 * Return: 0; -EINVAL (an option), -ENOMEM.
 */
int cosy_ranges_create(struct cosy_ranges **ranges, const struct cosy_ranges_options *options);

/** cosy_ranges_destroy() - free all ranges, also those that are taken, and reserved memory; or NULL */
void cosy_ranges_destroy(struct cosy_ranges *ranges);

/**
 * cosy_range_take() - take a range
 * @ranges: the ranges
 *
 * Takes the range that this worker has freed last, which is probably in its CPU's cache. If there is none,
 * takes one that another thread has freed, or else populates a new one. The contents are undefined.
 * Thread-safe; threads that are no workers share a list.
 *
 * Return: the range, empty; NULL: all are taken, or there is no memory (errno: ENOMEM).
 */
struct cosy_range *cosy_range_take(struct cosy_ranges *ranges);

/**
 * cosy_range_free() - let a range be taken again
 * @ranges: the ranges from which it was taken
 * @range:  the range, or NULL; any thread may free it. Its memory stays populated
 */
void cosy_range_free(struct cosy_ranges *ranges, struct cosy_range *range);

/**
 * cosy_range_alloc() - allocate memory of a range
 * @range: the range; no other thread uses it
 * @size:  number of bytes
 *
 * Return: the memory, aligned to 16 bytes, with undefined contents; NULL: the range has too few bytes left.
 */
static inline void *cosy_range_alloc(struct cosy_range *range, size_t size)
{
	size_t at = (range->used + 15) & ~(size_t)15;

	if (at > range->size || size > range->size - at)
		return NULL;
	range->used = at + size;
	return range->start + at;
}

/**
 * struct cosy_ranges_info - the counts of ranges
 * @populated: ranges that have memory
 * @taken:     of these, taken
 * @recycled:  times that a range was taken that had been used before
 * @moved:     of these, times that it came from the list that all threads share
 */
struct cosy_ranges_info {
	uint64_t populated;
	uint64_t taken;
	uint64_t recycled;
	uint64_t moved;
};

/**
 * cosy_ranges_info() - read the counts
 * @size: sizeof(struct cosy_ranges_info); unknown members are set to 0
 */
void cosy_ranges_info(struct cosy_ranges *ranges, struct cosy_ranges_info *info, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* COSY_RANGE_H */
