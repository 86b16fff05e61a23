/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * user.c - executes regions in user mode, and single operations that the module cannot.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/cosy.h>
#include <string.h>

#include <cosy/exec.h>

#include "device/options.h"
#include "device/single.h"
#include "function/counters.h"
#include "region/user.h"

static void state_init(struct cosy_state *st, const struct cosy_code *code,
		       uint64_t *frame, uint32_t pc)
{
	st->regs = frame;
	st->pc = pc;
	st->calls = 0;
	st->errno_addr = (uintptr_t)&errno;
	st->env.single = false;
	st->env.call = NULL;
	frame[code->nregs] = 0;
}

/* Operations until the next look at the limits. */
#define LIMITED_CHUNK	(1 << 16)

static enum cosy_status execute(struct cosy_reserved *reserved, struct cosy_state *st,
				struct cosy_limiter *limiter)
{
	int64_t given = (int64_t)reserved->code->limit;
	enum cosy_status status;

	if (limiter->limits)
		given = limiter->left < LIMITED_CHUNK ? limiter->left :
							LIMITED_CHUNK;
	st->budget = given;
	status = cosy_exec(reserved->code, st);
	if (limiter->limits && status != COSY_DONE)
		limiter->left -= given - st->budget;
	cosy_count(reserved->counts, &reserved->counts->syscalls, st->calls);
	st->calls = 0;
	return status;
}

void cosy_user_call_up(const struct cosy_region *region, struct cosy_reserved *reserved,
		    uint64_t *frame, uint64_t number)
{
	cosy_count(reserved->counts, &reserved->counts->upcalls, 1);
	region->thunks[number](frame);
}

int64_t cosy_user_finish(const struct cosy_region *region,
				   struct cosy_reserved *reserved, uint64_t *frame,
				   uint32_t pc, struct cosy_limiter *limiter)
{
	struct cosy_state st;

	cosy_count(reserved->counts, &reserved->counts->user, 1);
	state_init(&st, reserved->code, frame, pc);
	for (;;) {
		switch (execute(reserved, &st, limiter)) {
		case COSY_DONE:
			return (int64_t)st.value;
		case COSY_UPCALL:
			cosy_user_call_up(region, reserved, frame, st.value);
			break;
		default:	/* COSY_LIMIT */
			break;
		}
		cosy_limiter_check(limiter, region, frame, st.pc);
	}
}

int64_t cosy_user_run(const struct cosy_region *region,
				struct cosy_reserved *reserved, uint64_t *frame)
{
	struct cosy_limiter limiter;

	for (uint32_t i = reserved->code->ninputs; i < reserved->code->nregs; i++)
		frame[i] = 0;
	cosy_limiter_begin(&limiter, region);
	return cosy_user_finish(region, reserved, frame, 0, &limiter);
}

int64_t cosy_user_step(const struct cosy_region *region,
				 struct cosy_reserved *reserved, uint64_t *frame,
				 struct cosy_run *run,
				 struct cosy_limiter *limiter)
{
	enum cosy_status status;
	struct cosy_state st;

	cosy_count(reserved->counts, &reserved->counts->steps, 1);
	state_init(&st, reserved->code, frame, run->pc);
	st.env.single = true;
	status = execute(reserved, &st, limiter);
	run->pc = st.pc;
	if (status == COSY_DONE)
		return (int64_t)st.value;
	if (status == COSY_UPCALL)
		cosy_user_call_up(region, reserved, frame, st.value);
	return -1;
}

void cosy_user_take_result(struct cosy_reserved *reserved, uint64_t *frame,
			struct cosy_run *run, long result)
{
	struct cosy_state st;

	state_init(&st, reserved->code, frame, run->pc);
	cosy_exec_result(reserved->code, &st, result);
	run->pc = st.pc;
}

int64_t cosy_user_run_upcalls(const struct cosy_region *region,
			      struct cosy_reserved *reserved, uint64_t *frame,
			      struct cosy_run *run, struct cosy_limiter *limiter,
			      uint32_t max)
{
	struct cosy_state st;

	cosy_count(reserved->counts, &reserved->counts->user, 1);
	state_init(&st, reserved->code, frame, run->pc);
	if (!cosy_options().plain)
		st.env.call = cosy_single_call;
	for (;;) {
		switch (execute(reserved, &st, limiter)) {
		case COSY_DONE:
			return (int64_t)st.value;
		case COSY_UPCALL:
			cosy_user_call_up(region, reserved, frame, st.value);
			if (--max)
				break;
			run->pc = st.pc;
			return -1;
		default:	/* COSY_LIMIT */
			break;
		}
	}
}
