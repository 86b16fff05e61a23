/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * limit.h - the limits of a region (COSY_START_WITH) while it runs.
 */
#ifndef COSY_LIMIT_H
#define COSY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>

/**
 * struct cosy_limiter - what a run may still do; on its stack
 * @limits: those of the region; NULL if there are none, or none any more
 * @left:   operations; below 0 the limit was reached
 * @begin:  CPU time of the thread when it began, in nanoseconds
 */
struct cosy_limiter {
	const struct cosy_limits *limits;
	int64_t left;
	int64_t begin;
};

/**
 * cosy_limiter_begin() - a run begins
 * @limiter: to be set
 * @region:  the region
 */
void cosy_limiter_begin(struct cosy_limiter *limiter,
			const struct cosy_region *region);

/**
 * cosy_limiter_look() - test whether the run, which was left, has reached a limit
 * @limiter: of the run; from then on there are none
 * @region:  the region
 * @frame:   its registers
 * @pc:      where it will be resumed
 *
 * Does what the policy says: kills the process, or sees to it that the region
 * ends as soon as it is resumed. Async-signal-safe.
 */
void cosy_limiter_look(struct cosy_limiter *limiter,
		       const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc);

/**
 * cosy_limiter_stop() - end the region as if it had reached a limit
 * @region: the region
 * @frame:  its registers
 * @pc:     where it will be resumed
 *
 * Return: false if it is not one that can be ended. Async-signal-safe.
 */
bool cosy_limiter_stop(const struct cosy_region *region, uint64_t *frame,
		       uint32_t pc);

#endif /* COSY_LIMIT_H */
