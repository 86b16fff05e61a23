/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.c - watches what a run does in the kernel, to judge whether it gains there.
 */
#include "region/watch.h"

/* The number of up-calls after which a part of a run gets a verdict. */
#define WATCHED_UPCALLS		32
#define LAST_UNWATCHED_UPCALLS	(1u << 20)
/* The number of up-calls that a run makes in user mode after a loss; doubled each time. */
#define FIRST_USER_UPCALLS	1024

void cosy_watch_init(struct cosy_watch *watch, bool on, bool whole)
{
	*watch = (struct cosy_watch){
		.on = on,
		.whole = whole,
		.sample.entries = whole,
		.slots = COSY_FIRST_WATCHED_SLOTS,
		.pause = COSY_FIRST_UNWATCHED_UPCALLS,
		.user_upcalls = FIRST_USER_UPCALLS,
	};
}

void cosy_watch_begin(struct cosy_watch *watch)
{
	watch->paused = false;
	watch->on = true;
	watch->sample = (struct cosy_sample){ 0 };
	watch->slots = COSY_FIRST_WATCHED_SLOTS;
}

void cosy_watch_end(struct cosy_watch *watch, struct cosy_verdict *verdict)
{
	if (watch->on && watch->whole)
		cosy_verdict_add(verdict, &watch->sample);
	watch->on = false;
	watch->whole = false;
}

void cosy_watch_next_entry(struct cosy_watch *watch, struct cosy_run *run,
			   bool counted)
{
	run->calls = 0;
	if (watch->on) {
		run->flags |= COSY_RUN_COUNT | COSY_RUN_LIMIT;
		run->limit = (uint64_t)watch->slots;
	} else if (!counted) {
		run->flags &= ~COSY_RUN_COUNT;
	}
}

void cosy_watch_add_slots(struct cosy_watch *watch, const struct cosy_run *run)
{
	watch->sample.slots += (uint64_t)(watch->slots - (int64_t)run->limit);
	if ((int64_t)run->limit < 0)
		watch->slots *= 2;
}

/* The region gained before. Watch its runs again. */
static void doubt(struct cosy_region *region, struct cosy_verdict *verdict)
{
	uint32_t loaded = COSY_MODE_LOADED;

	if (__atomic_load_n(&verdict->opinion, __ATOMIC_RELAXED) !=
	    COSY_OPINION_GAINS)
		return;
	cosy_verdict_doubt(verdict);
	__atomic_compare_exchange_n(&region->mode, &loaded, COSY_MODE_DECIDE,
				    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool cosy_watch_loses(struct cosy_watch *watch, struct cosy_region *region,
		      struct cosy_reserved *reserved, bool suspended)
{
	struct cosy_verdict *verdict = &reserved->verdict;

	if (!watch->on || watch->sample.upcalls < WATCHED_UPCALLS)
		return false;
	if (cosy_verdict_gain(verdict, &watch->sample) >= 0) {
		cosy_watch_end(watch, verdict);
		if (reserved->counts)
			cosy_watch_begin(watch);
		else
			watch->paused = true;
		return false;
	}
	if (suspended)
		return false;
	cosy_watch_end(watch, verdict);
	doubt(region, verdict);
	return true;
}

/* Return *@number, and double it for the next time, up to a maximum. */
static uint32_t take_and_double(uint32_t *number)
{
	uint32_t taken = *number;

	if (taken < LAST_UNWATCHED_UPCALLS)
		*number = 2 * taken;
	return taken;
}

uint32_t cosy_watch_user_upcalls(struct cosy_watch *watch)
{
	return take_and_double(&watch->user_upcalls);
}

uint32_t cosy_watch_pause(struct cosy_watch *watch)
{
	return take_and_double(&watch->pause);
}
