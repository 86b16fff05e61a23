/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * user.h - executes regions in user mode, by the executor in libcosy.
 *
 * All functions are async-signal-safe and thread-safe. An up-call that they make may leave them
 * by longjmp().
 */
#ifndef COSY_REGION_USER_H
#define COSY_REGION_USER_H

#include <linux/cosy.h>
#include <stdint.h>

#include <cosy/region.h>

#include "region/limit.h"
#include "region/reserved.h"

/**
 * cosy_user_run() - run a region in user mode, from its beginning to its end
 * @region:   the region
 * @reserved: its decoded code
 * @frame:    its registers; the inputs are set
 *
 * Return: the exit.
 */
int64_t cosy_user_run(const struct cosy_region *region,
		      struct cosy_reserved *reserved, uint64_t *frame);

/**
 * cosy_user_finish() - run a region in user mode from an operation to its end
 * @region: @reserved: @frame: as for cosy_user_run()
 * @pc:      the operation
 * @limiter: the limits of the run
 *
 * Return: the exit.
 */
int64_t cosy_user_finish(const struct cosy_region *region,
			 struct cosy_reserved *reserved, uint64_t *frame,
			 uint32_t pc, struct cosy_limiter *limiter);

/**
 * cosy_user_step() - execute what the module cannot
 * @region: @reserved: @frame: as for cosy_user_run()
 * @run:     the run, at the operation; it is moved to after the next call or back-edge
 * @limiter: its limits
 *
 * Return: the exit; -1 to resume at run->pc.
 */
int64_t cosy_user_step(const struct cosy_region *region,
		       struct cosy_reserved *reserved, uint64_t *frame,
		       struct cosy_run *run, struct cosy_limiter *limiter);

/**
 * cosy_user_run_upcalls() - run a region in user mode for a number of up-calls
 * @region: @reserved: @frame: @run: @limiter: as for cosy_user_step()
 * @max: the number of up-calls
 *
 * For runs that lose by their up-calls: the native code cannot be entered in the middle. Calls
 * that gain from an entry of their own still go through the module.
 *
 * Return: the exit; -1 to resume at run->pc.
 */
int64_t cosy_user_run_upcalls(const struct cosy_region *region,
			      struct cosy_reserved *reserved, uint64_t *frame,
			      struct cosy_run *run, struct cosy_limiter *limiter,
			      uint32_t max);

/**
 * cosy_user_take_result() - store the result of the interrupted call at run->pc
 * @reserved: @frame: as for cosy_user_run()
 * @run:    the run; it is moved to after the call
 * @result: the result
 */
void cosy_user_take_result(struct cosy_reserved *reserved, uint64_t *frame,
			   struct cosy_run *run, long result);

/**
 * cosy_user_call_up() - make an up-call
 * @region: @reserved: @frame: as for cosy_user_run()
 * @number: the number of the up-call's native code
 */
void cosy_user_call_up(const struct cosy_region *region,
		       struct cosy_reserved *reserved, uint64_t *frame,
		       uint64_t number);

#endif /* COSY_REGION_USER_H */
