/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.h - watches what a run does in the kernel, to judge whether it gains there.
 *
 * The module reports counts when a run leaves it. So a watched run leaves now and then, and is
 * judged after a number of up-calls. A run that gains then makes a number of up-calls without
 * being watched, and a run that loses makes a number of them in user mode.
 */
#ifndef COSY_REGION_WATCH_H
#define COSY_REGION_WATCH_H

#include <linux/cosy.h>
#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>

#include "region/reserved.h"
#include "region/verdict.h"

/*
 * A watched run leaves after this number of slots in loops, because the module reports the
 * number only when the run leaves. The number is doubled each time.
 */
#define COSY_FIRST_WATCHED_SLOTS	256
/* The number of up-calls until the next part is watched; doubled after each gain. */
#define COSY_FIRST_UNWATCHED_UPCALLS	64

/**
 * struct cosy_watch - what is known about the current part of a run
 * @on:      the run is being watched, in @sample
 * @whole:   it has been watched since its beginning
 * @paused:  it is not being watched now, because it has gained until now
 * @sample:  counts of the watched part
 * @slots:   number of slots that the last entry may execute in loops, if it is watched
 * @pause:   number of up-calls until it is watched again, after the next gain
 * @user_upcalls: number of up-calls to make in user mode after the next loss
 */
struct cosy_watch {
	bool on;
	bool whole;
	bool paused;
	struct cosy_sample sample;
	int64_t slots;
	uint32_t pause;
	uint32_t user_upcalls;
};

/**
 * cosy_watch_init() - prepare for a run that has been entered once
 * @watch: set
 * @on:    the run is being watched
 * @whole: it has been watched since its beginning
 */
void cosy_watch_init(struct cosy_watch *watch, bool on, bool whole);

/** cosy_watch_begin() - watch the run from the next entry on */
void cosy_watch_begin(struct cosy_watch *watch);

/** cosy_watch_end() - stop watching; @verdict takes the counts of a run watched as a whole */
void cosy_watch_end(struct cosy_watch *watch, struct cosy_verdict *verdict);

/**
 * cosy_watch_next_entry() - set the flags of @run for the next entry
 * @watch:   of the run
 * @run:     the run
 * @counted: its counts are needed even if it is not being watched
 */
void cosy_watch_next_entry(struct cosy_watch *watch, struct cosy_run *run,
			   bool counted);

/** cosy_watch_add_slots() - count the slots that the last entry of @run executed in loops */
void cosy_watch_add_slots(struct cosy_watch *watch, const struct cosy_run *run);

/**
 * cosy_watch_loses() - judge a run, once it has made enough up-calls
 * @watch:     of the run
 * @region:    its region
 * @reserved:  what is reserved for it
 * @suspended: a function is suspended, which can only be resumed in the kernel
 *
 * Return: true if the run loses, and must make the next up-calls in user mode.
 */
bool cosy_watch_loses(struct cosy_watch *watch, struct cosy_region *region,
		      struct cosy_reserved *reserved, bool suspended);

/** cosy_watch_user_upcalls() - return the number of up-calls to make in user mode after a loss */
uint32_t cosy_watch_user_upcalls(struct cosy_watch *watch);

/** cosy_watch_pause() - return the number of up-calls to make without watching after a gain */
uint32_t cosy_watch_pause(struct cosy_watch *watch);

#endif /* COSY_REGION_WATCH_H */
