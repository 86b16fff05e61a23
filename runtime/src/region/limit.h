/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * limit.h - the limits of a region (COSY_START_WITH) while it runs.
 */
#ifndef COSY_LIMIT_H
#define COSY_LIMIT_H

#include <linux/cosy.h>
#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>

/**
 * struct cosy_limiter - the limits of a run; on its stack
 * @limits: limits of the region; NULL if it has none, or after one was applied
 * @left:   number of operations that may still be executed; below 0 the limit was reached
 * @begin:  CPU time of the thread when the run began, in nanoseconds
 */
struct cosy_limiter {
	const struct cosy_limits *limits;
	int64_t left;
	int64_t begin;
};

/**
 * cosy_limiter_begin() - set the limits at the beginning of a run
 * @limiter: set
 * @region:  the region
 */
void cosy_limiter_begin(struct cosy_limiter *limiter,
			const struct cosy_region *region);

/**
 * cosy_limiter_next_entry() - limit the next entry of a run to what is left of its limits
 * @limiter: limits of the run
 * @run:     its flags, slice and limit are set
 */
static inline void cosy_limiter_next_entry(const struct cosy_limiter *limiter,
					   struct cosy_run *run)
{
	const struct cosy_limits *limits = limiter->limits;

	run->flags &= COSY_RUN_COUNT | COSY_RUN_SUSPENDED;
	run->slice = 0;
	if (!limits)
		return;
	run->slice = limits->max_ms;
	if (limits->policy != COSY_RESUME && limits->max_operations) {
		run->flags |= COSY_RUN_LIMIT;
		run->limit = (uint64_t)limiter->left;
	}
}

/**
 * cosy_limiter_check() - apply the policy if a run has reached a limit
 * @limiter: limits of the run, which has left its compound
 * @region:  the region
 * @frame:   its registers
 * @pc:      pc at which it will resume
 *
 * By the policy, kills the process, or makes the region end as soon as it resumes. Then the run
 * has no limits any more. Async-signal-safe.
 */
void cosy_limiter_check(struct cosy_limiter *limiter,
		       const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc);

/**
 * cosy_limiter_stop() - end the region as if it had reached a limit
 * @region: the region
 * @frame:  its registers
 * @pc:     pc at which it will resume
 *
 * Return: false if its policy does not allow that. Async-signal-safe.
 */
bool cosy_limiter_stop(const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc);

#endif /* COSY_LIMIT_H */
