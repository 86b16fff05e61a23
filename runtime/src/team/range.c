/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * range.c - memory that belongs to a worker.
 *
 * All ranges are in one mapping, so that the kernel has one record for them; or in memory of the
 * program. Workers of the same number share a list if a program has several teams; then the lock of the
 * list is taken by both.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/range.h>

#include "device/extensible.h"
#include "device/sys.h"
#include "team/team.h"

#define DEFAULT_SIZE	(1u << 20)
#define DEFAULT_COUNT	1024u
#define HUGE_SIZE	(2u << 20)
#define MAX_BYTES	((size_t)1 << 46)
/* Maximum number of free ranges that a worker keeps. It frees further ones to the list of all threads. */
#define MAX_KEPT	32u
/* Since Linux 5.14. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

/** struct ranges_list - ranges that are free, and counts of the thread that uses it */
struct ranges_list {
	struct team_lock lock;
	uint32_t count;
	struct cosy_range *first;
	uint64_t recycled;
	uint64_t moved;
} __attribute__((aligned(TEAM_LINE)));

/**
 * struct cosy_ranges - memory from which ranges are taken
 * @memory:	the mapping, with @slack bytes before the first range
 * @bytes:	its size; 0: the memory is the program's
 * @size:	size of a range
 * @count:	number of ranges
 * @all:	the ranges
 * @shared:	the list of all threads; its lock also protects @populated
 * @populated:	number of ranges that have memory
 * @users:	workers with this number and above have never freed a range
 * @kept:	the list of each worker
 */
struct cosy_ranges {
	char *memory;
	size_t bytes;
	size_t slack;
	size_t size;
	uint32_t count;
	uint32_t populated;
	uint32_t users;
	struct cosy_range *all;
	struct ranges_list shared;
	struct ranges_list kept[COSY_TEAM_MAX];
};

static int read_options(struct cosy_ranges_options *known,
			const struct cosy_ranges_options *options)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err = cosy_extensible_copy(known, sizeof(*known), options);

	if (err)
		return err;
	if (!known->size)
		known->size = DEFAULT_SIZE;
	if (!known->count)
		known->count = DEFAULT_COUNT;
	if (known->flags & ~COSY_RANGES_HUGE || known->ready > known->count ||
	    known->size > MAX_BYTES)
		return -EINVAL;
	known->size = (known->size + page - 1) & ~(page - 1);
	if (known->size > MAX_BYTES / known->count)
		return -EINVAL;
	if (known->memory && (known->flags || (uintptr_t)known->memory & (page - 1)))
		return -EINVAL;
	return 0;
}

/* Populate the pages of a range. */
static int populate(const struct cosy_range *range)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long ret = cosy_sys(SYS_madvise, (long)range->start, (long)range->size,
			    MADV_POPULATE_WRITE);

	if (ret != -EINVAL)
		return (int)ret;
	/* An older kernel. */
	for (size_t i = 0; i < range->size; i += page)
		*(volatile char *)(range->start + i) = 0;
	return 0;
}

/* Get the memory, or reserve address space. Huge pages begin at multiples of their size. */
static int reserve(struct cosy_ranges *ranges, const struct cosy_ranges_options *options)
{
	const bool huge = options->flags & COSY_RANGES_HUGE;
	const size_t align = huge && ranges->size % HUGE_SIZE == 0 ? HUGE_SIZE : 1;

	if (options->memory) {
		ranges->memory = options->memory;
		return 0;
	}
	ranges->bytes = ranges->size * ranges->count + align - 1;
	ranges->memory = mmap(NULL, ranges->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ranges->memory == MAP_FAILED)
		return -ENOMEM;
	ranges->slack = -(uintptr_t)ranges->memory & (align - 1);
	if (align > 1)
		madvise(ranges->memory, ranges->bytes, MADV_HUGEPAGE);
	return 0;
}

/* Take a range that was never taken. Its size is 0 until it is populated. */
static struct cosy_range *new_range(struct cosy_ranges *ranges)
{
	struct cosy_range *range = NULL;

	team_lock(&ranges->shared.lock);
	if (ranges->populated < ranges->count)
		range = &ranges->all[team_get(&ranges->populated)];
	if (range)
		team_count(&ranges->populated);
	team_unlock(&ranges->shared.lock);
	return range;
}

/* Populate a range if that was not done. Free it, and return NULL, if there is no memory. */
static struct cosy_range *ready_range(struct cosy_ranges *ranges, struct cosy_range *range)
{
	if (!range || range->size)
		return range;
	range->size = ranges->size;
	range->start = ranges->memory + ranges->slack + (size_t)(range - ranges->all) * range->size;
	if (!ranges->bytes || !populate(range))
		return range;
	range->size = 0;
	cosy_range_free(ranges, range);
	return NULL;
}

COSY_EXPORT int cosy_ranges_create(struct cosy_ranges **result,
				   const struct cosy_ranges_options *options)
{
	struct cosy_ranges_options known;
	struct cosy_ranges *ranges;
	int err = read_options(&known, options);

	if (err)
		return err;
	ranges = aligned_alloc(TEAM_LINE, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	memset(ranges, 0, sizeof(*ranges));
	ranges->size = known.size;
	ranges->count = known.count;
	ranges->all = calloc(known.count, sizeof(*ranges->all));
	err = ranges->all ? reserve(ranges, &known) : -ENOMEM;
	if (err) {
		free(ranges->all);
		free(ranges);
		return err;
	}
	while (!err && ranges->populated < known.ready) {
		struct cosy_range *range = ready_range(ranges, new_range(ranges));

		if (!range)
			err = -ENOMEM;
		cosy_range_free(ranges, range);
	}
	if (err) {
		cosy_ranges_destroy(ranges);
		return err;
	}
	*result = ranges;
	return 0;
}

COSY_EXPORT void cosy_ranges_destroy(struct cosy_ranges *ranges)
{
	if (!ranges)
		return;
	if (ranges->bytes)
		munmap(ranges->memory, ranges->bytes);
	free(ranges->all);
	free(ranges);
}

static struct ranges_list *list_of_caller(struct cosy_ranges *ranges)
{
	return cosy_worker_self ? &ranges->kept[cosy_worker_self->index] : &ranges->shared;
}

static struct cosy_range *take_from(struct ranges_list *list)
{
	struct cosy_range *range;

	if (!team_get(&list->count))
		return NULL;
	team_lock(&list->lock);
	range = list->first;
	if (range) {
		list->first = range->next;
		team_set(&list->count, list->count - 1);
		team_count(&list->recycled);
	}
	team_unlock(&list->lock);
	return range;
}

/* Take a range that another worker keeps. Moving it takes less time than populating another one. */
static struct cosy_range *take_from_others(struct cosy_ranges *ranges)
{
	const uint32_t users = team_get(&ranges->users);
	struct cosy_range *range = NULL;

	for (uint32_t i = 0; i < users && !range; i++)
		range = take_from(&ranges->kept[i]);
	return range;
}

COSY_EXPORT struct cosy_range *cosy_range_take(struct cosy_ranges *ranges)
{
	struct ranges_list *own = list_of_caller(ranges);
	struct cosy_range *range = take_from(own);

	if (!range && own != &ranges->shared) {
		range = take_from(&ranges->shared);
		if (range)
			team_count(&own->moved);
	}
	if (!range)
		range = take_from_others(ranges);
	if (!range)
		range = new_range(ranges);
	range = ready_range(ranges, range);
	if (!range) {
		errno = ENOMEM;
		return NULL;
	}
	range->used = 0;
	range->next = NULL;
	tsan_acquire(range);
	return range;
}

static bool put_into(struct ranges_list *list, struct cosy_range *range, uint32_t max)
{
	bool fits;

	team_lock(&list->lock);
	fits = list->count < max;
	if (fits) {
		range->next = list->first;
		list->first = range;
		team_set(&list->count, list->count + 1);
	}
	team_unlock(&list->lock);
	return fits;
}

/* Let the list of this worker be found by others. */
static void note_user(struct cosy_ranges *ranges)
{
	const uint32_t number = cosy_worker_self ? cosy_worker_self->index + 1 : 0;
	uint32_t users = team_get(&ranges->users);

	while (users < number &&
	       !__atomic_compare_exchange_n(&ranges->users, &users, number, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

COSY_EXPORT void cosy_range_free(struct cosy_ranges *ranges, struct cosy_range *range)
{
	struct ranges_list *own = list_of_caller(ranges);

	if (!range)
		return;
	tsan_release(range);
	note_user(ranges);
	if (own == &ranges->shared || !put_into(own, range, MAX_KEPT))
		put_into(&ranges->shared, range, UINT32_MAX);
}

COSY_EXPORT void cosy_ranges_info(struct cosy_ranges *ranges, struct cosy_ranges_info *info,
				  size_t size)
{
	struct cosy_ranges_info counts = {
		.populated = team_get(&ranges->populated),
		.recycled = team_get(&ranges->shared.recycled),
	};
	uint64_t unused = team_get(&ranges->shared.count);

	for (uint32_t i = 0; i < COSY_TEAM_MAX; i++) {
		unused += team_get(&ranges->kept[i].count);
		counts.recycled += team_get(&ranges->kept[i].recycled);
		counts.moved += team_get(&ranges->kept[i].moved);
	}
	counts.taken = counts.populated - unused;
	cosy_extensible_give(info, size, &counts, sizeof(counts));
}
