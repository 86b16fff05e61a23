/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timer.c - entries that wait for a time, in a binary heap: timers, and calls that are attempted
 * again after a time. Of several with the same time, the one that was added first comes first.
 */
#include <errno.h>
#include <stdlib.h>

#include "loop.h"

static bool is_before(const struct cosy_timer *a, const struct cosy_timer *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(struct cosy_loop *loop, uint32_t at, struct cosy_timer timer)
{
	loop->timers[at] = timer;
	loop->slots[timer.slot].timer = at;
}

/* Put @timer at the free place @at of the heap, or move it up. */
static void sift_up(struct cosy_loop *loop, uint32_t at, struct cosy_timer timer)
{
	while (at && is_before(&timer, &loop->timers[(at - 1) / 2])) {
		put(loop, at, loop->timers[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(loop, at, timer);
}

/* Put @timer at the free place @at of the heap, or move it down. */
static void sift_down(struct cosy_loop *loop, uint32_t at,
		      struct cosy_timer timer)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= loop->ntimers)
			break;
		if (child + 1 < loop->ntimers &&
		    is_before(&loop->timers[child + 1], &loop->timers[child]))
			child++;
		if (!is_before(&loop->timers[child], &timer))
			break;
		put(loop, at, loop->timers[child]);
		at = child;
	}
	put(loop, at, timer);
}

int cosy_timer_add(struct cosy_loop *loop, uint32_t slot, uint64_t time)
{
	if (loop->ntimers == loop->max_timers) {
		uint32_t max = loop->max_timers ? 2 * loop->max_timers : 64;
		struct cosy_timer *timers =
			realloc(loop->timers, max * sizeof(*timers));

		if (!timers)
			return -ENOMEM;
		loop->timers = timers;
		loop->max_timers = max;
	}
	loop->slots[slot].state = COSY_SLOT_SLEEPING;
	loop->info.waiting++;
	sift_up(loop, loop->ntimers++,
		(struct cosy_timer){
			.time = time,
			.order = loop->timers_added++,
			.slot = slot,
		});
	return 0;
}

void cosy_timer_remove(struct cosy_loop *loop, uint32_t slot)
{
	uint32_t at = loop->slots[slot].timer;
	struct cosy_timer last = loop->timers[--loop->ntimers];

	loop->info.waiting--;
	if (last.slot == slot)
		return;
	if (at && is_before(&last, &loop->timers[(at - 1) / 2]))
		sift_up(loop, at, last);
	else
		sift_down(loop, at, last);
}

void cosy_timers_expire(struct cosy_loop *loop)
{
	uint64_t now;

	if (!loop->ntimers)
		return;
	now = cosy_clock();
	while (loop->ntimers && loop->timers[0].time <= now) {
		uint32_t slot = loop->timers[0].slot;

		cosy_timer_remove(loop, slot);
		if (loop->slots[slot].how == COSY_HOW_SEND ||
		    loop->slots[slot].how == COSY_HOW_CONNECT) {
			cosy_attempts_flush(loop);
			/* The program may have changed O_NONBLOCK since the last attempt. */
			cosy_start_ready(loop, slot, 0);
		} else {
			cosy_complete(loop, slot, 0);
		}
	}
	if (cosy_attempts_pending(loop))
		cosy_attempts_make(loop);
}

uint64_t cosy_timers_next(const struct cosy_loop *loop)
{
	return loop->ntimers ? loop->timers[0].time : UINT64_MAX;
}
