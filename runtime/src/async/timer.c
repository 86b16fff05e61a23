/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timer.c - entries that wait for a time, in a binary heap: timers, and calls that are attempted
 * again after a time. If several have the same time, the one that was added first comes first.
 */
#include <errno.h>
#include <stdlib.h>

#include "slot.h"
#include "timer.h"

static bool is_before(const struct cosy_timer *a, const struct cosy_timer *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(struct cosy_timers *timers, uint32_t at, struct cosy_timer timer)
{
	timers->heap[at] = timer;
	timers->slots[timer.slot].timer = at;
}

/* Put @timer at the free place @at of the heap, or move it up. */
static void sift_up(struct cosy_timers *timers, uint32_t at, struct cosy_timer timer)
{
	while (at && is_before(&timer, &timers->heap[(at - 1) / 2])) {
		put(timers, at, timers->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(timers, at, timer);
}

/* Put @timer at the free place @at of the heap, or move it down. */
static void sift_down(struct cosy_timers *timers, uint32_t at,
		      struct cosy_timer timer)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= timers->count)
			break;
		if (child + 1 < timers->count &&
		    is_before(&timers->heap[child + 1], &timers->heap[child]))
			child++;
		if (!is_before(&timers->heap[child], &timer))
			break;
		put(timers, at, timers->heap[child]);
		at = child;
	}
	put(timers, at, timer);
}

int cosy_timer_add(struct cosy_timers *timers, uint32_t slot, uint64_t time)
{
	if (timers->count == timers->max) {
		uint32_t max = timers->max ? 2 * timers->max : 64;
		struct cosy_timer *heap = realloc(timers->heap, max * sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		timers->heap = heap;
		timers->max = max;
	}
	timers->slots[slot].state = COSY_SLOT_SLEEPING;
	sift_up(timers, timers->count++,
		(struct cosy_timer){
			.time = time,
			.order = timers->added++,
			.slot = slot,
		});
	return 0;
}

void cosy_timer_remove(struct cosy_timers *timers, uint32_t slot)
{
	uint32_t at = timers->slots[slot].timer;
	struct cosy_timer last = timers->heap[--timers->count];

	if (last.slot == slot)
		return;
	if (at && is_before(&last, &timers->heap[(at - 1) / 2]))
		sift_up(timers, at, last);
	else
		sift_down(timers, at, last);
}

uint32_t cosy_timers_take(struct cosy_timers *timers, uint64_t now)
{
	uint32_t slot;

	if (!timers->count || timers->heap[0].time > now)
		return COSY_NO_SLOT;
	slot = timers->heap[0].slot;
	cosy_timer_remove(timers, slot);
	return slot;
}

uint64_t cosy_timers_next(const struct cosy_timers *timers)
{
	return timers->count ? timers->heap[0].time : UINT64_MAX;
}
