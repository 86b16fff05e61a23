/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * resume.c - resumes runs that have left the kernel early, makes their up-calls, and has what the
 * kernel cannot execute done in user mode.
 *
 * The state of a run is in its frame and in variables on the stack. There is no lock or count that an
 * up-call or a signal handler could leave behind by longjmp().
 *
 * A compound that has begun is always finished as a compound, because the native code can
 * only be entered at its beginning. If the module cannot be used any more, the user-mode
 * executor finishes it. Its decoded code exists before the first entry.
 */
#include <errno.h>

#include <cosy/function.h>

#include "function/counters.h"
#include "function/hooks.h"
#include "region/entry.h"
#include "region/kernel.h"
#include "region/limit.h"
#include "region/recover.h"
#include "region/region.h"
#include "region/user.h"
#include "region/watch.h"

/* How often one entry tries to get its descriptor or handle back. */
#define MAX_RECOVERIES 4

/* The kernel's restart codes, which no header of the system has. */
#define ERESTARTSYS	512
#define ERESTARTNOHAND	514
#define ERESTART_RESTARTBLOCK	516

/*
 * Return true if @ret of an entry with status COSY_RESULT is the result of the call at pc. It is
 * not if the kernel restarted the entry and the device's descriptor was closed, or was another
 * file's, by then. value is what the module returned.
 */
static bool is_result(const struct cosy_run *run, long ret)
{
	long returned = (long)run->value;

	/* restart_syscall() returns what the call returns; it uses no descriptor. */
	if (returned == -ERESTART_RESTARTBLOCK)
		return true;
	/* The entry is restarted, or ends with EINTR. */
	if (returned <= -ERESTARTSYS && returned >= -ERESTARTNOHAND)
		return ret == -EINTR;
	/* The call's errno could not be stored. */
	return ret == returned;
}

/* Return true if the run was left in a function that can only be resumed. */
static bool must_go_on(const struct cosy_run *run)
{
	const struct cosy_suspended *suspended = (const void *)run->suspended;

	return run->flags & COSY_RUN_SUSPENDED && suspended->wrote;
}

/*
 * Finish a run that cannot enter any more. A function that is suspended can only be resumed in
 * the kernel, so it fails.
 */
static int64_t finish_run(const struct cosy_region *region,
			  struct cosy_reserved *reserved, uint64_t *frame,
			  struct cosy_run *run, struct cosy_limiter *limiter)
{
	if (run->flags & COSY_RUN_SUSPENDED) {
		run->value = COSY_FUNCTION_LOST;
		run->failure = (struct cosy_function_failure){
			.wrote = must_go_on(run),
		};
		cosy_function_hooks->failed(region, reserved->counts, frame, run);
	}
	return cosy_user_finish(region, reserved, frame, run->pc, limiter);
}

/**
 * struct entered - a run that has entered the kernel at least once
 * @region: @reserved: @frame: the region
 * @run:     the run
 * @limiter: its limits
 * @fd:      the descriptor of the last entry
 * @failed:  entries in succession that executed nothing
 * @begun:   operations have been executed, so the native code cannot run any more
 * @watch:   whether it gains
 * @exit:    the exit; -1 to run the native code
 */
struct entered {
	struct cosy_region *region;
	struct cosy_reserved *reserved;
	uint64_t *frame;
	struct cosy_run *run;
	struct cosy_limiter *limiter;
	int fd;
	unsigned int failed;
	bool begun;
	struct cosy_watch watch;
	int64_t exit;
};

static void count_entry(struct entered *entered)
{
	struct cosy_counts *counts = entered->reserved->counts;
	struct cosy_run *run = entered->run;

	if (run->flags & COSY_RUN_COUNT) {
		cosy_count(counts, &counts->syscalls, run->calls);
		entered->watch.sample.calls += run->calls;
		run->calls = 0;
	}
	cosy_count(counts, &counts->entries, 1);
}

/* Note that the last entry has executed something. */
static void note_progress(struct entered *entered)
{
	struct cosy_run *run = entered->run;

	entered->begun = true;
	entered->failed = 0;
	count_entry(entered);
	if (!(run->flags & COSY_RUN_LIMIT))
		return;
	if (entered->watch.on)
		cosy_watch_add_slots(&entered->watch, run);
	else
		entered->limiter->left = (int64_t)run->limit;
}

static bool finish(struct entered *entered)
{
	entered->exit = finish_run(entered->region, entered->reserved,
				   entered->frame, entered->run,
				   entered->limiter);
	return true;
}

/* Run the native code of an up-call or of a function. */
static void run_upcall(struct entered *entered)
{
	const struct cosy_region *region = entered->region;
	struct cosy_run *run = entered->run;

	entered->watch.sample.upcalls++;
	if (region->nfunctions && cosy_function_hooks &&
	    cosy_function_hooks->upcall(region, entered->reserved->counts,
					entered->frame, run))
		return;
	cosy_user_call_up(region, entered->reserved, entered->frame, run->value);
}

/* Execute the operation that the module cannot. Return true if the run has ended. */
static bool run_step(struct entered *entered)
{
	struct cosy_run *run = entered->run;

	if (run->value == COSY_STEP_TRACED) {
		cosy_device_pause();
		entered->exit = cosy_user_finish(entered->region,
						    entered->reserved,
						    entered->frame, run->pc,
						    entered->limiter);
		return true;
	}
	/* To make a call natively, it leaves and enters as for an up-call. */
	entered->watch.sample.upcalls++;
	entered->exit = cosy_user_step(entered->region, entered->reserved,
					  entered->frame, run,
					  entered->limiter);
	return entered->exit >= 0;
}

/* Execute what the module has left the compound for. Return true if the run has ended. */
static bool run_what_is_asked(struct entered *entered)
{
	struct cosy_run *run = entered->run;

	switch (run->status) {
	case COSY_DONE:
		entered->exit = (int64_t)run->value;
		return true;
	case COSY_UPCALL:
		run_upcall(entered);
		return false;
	case COSY_FAILED:
		cosy_function_hooks->failed(entered->region,
					    entered->reserved->counts,
					    entered->frame, run);
		return false;
	case COSY_STEP:
		return run_step(entered);
	default:
		/* COSY_LIMIT; COSY_AGAIN: a handler has run. */
		return false;
	}
}

/* Continue after an entry that left the compound early. Return true if the run has ended. */
static bool continue_after_leave(struct entered *entered, bool blocked)
{
	struct cosy_run *run = entered->run;
	bool capped;

	note_progress(entered);
	if (blocked)
		cosy_device_block();
	if (run_what_is_asked(entered))
		return true;
	if (entered->limiter->limits)
		cosy_limiter_check(entered->limiter, entered->region,
				  entered->frame, run->pc);
	capped = run->flags & COSY_RUN_CAPPED && !must_go_on(run);
	if (capped)
		cosy_limiter_stop(entered->region, entered->frame, run->pc);
	return capped || blocked ? finish(entered) : false;
}

/* Continue after an entry that returned the result of an interrupted call. */
static void continue_after_call(struct entered *entered, long result)
{
	note_progress(entered);
	cosy_user_take_result(entered->reserved, entered->frame, entered->run, result);
}

/*
 * Continue after an entry that executed nothing: recover the descriptor or the handle, or
 * continue without the module. Return true if the run has ended.
 */
static bool continue_after_failure(struct entered *entered, long error)
{
	const struct cosy_run *run = entered->run;

	/* It may be an entry that the kernel restarted after it had begun. */
	entered->begun |= run->pc != 0 || run->status != COSY_DONE;
	if (entered->failed++ < MAX_RECOVERIES &&
	    cosy_kernel_recover(entered->region, entered->reserved, entered->run,
				entered->fd, error))
		return false;
	if (entered->begun)
		return finish(entered);
	entered->exit = cosy_region_has_native(entered->region) ?
				-1 :
				cosy_user_run(entered->region, entered->reserved,
						 entered->frame);
	return true;
}

/*
 * Continue a run in user mode that loses by its up-calls, then watch it again. Return true if the
 * run has ended.
 */
static bool continue_in_user_mode(struct entered *entered)
{
	uint32_t upcalls = cosy_watch_user_upcalls(&entered->watch);

	entered->exit = cosy_user_run_upcalls(entered->region, entered->reserved,
					      entered->frame, entered->run,
					      entered->limiter, upcalls);
	if (entered->exit >= 0)
		return true;
	cosy_watch_begin(&entered->watch);
	return false;
}

/* The run gains: make its next up-calls without watching, then watch it again. */
static long make_paused_upcalls(struct entered *entered, long ret)
{
	ret = make_upcalls(entered->region, entered->frame, entered->run, ret,
			   cosy_watch_pause(&entered->watch));
	entered->fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
	cosy_watch_begin(&entered->watch);
	return ret;
}

/* Continue after an entry that returned @ret. Return true if the run has ended. */
static bool continue_run(struct entered *entered, long ret)
{
	struct cosy_run *run = entered->run;
	bool ended = false;

	if (ret == (long)COSY_RUN_LEFT || ret == (long)COSY_RUN_SECCOMP_BLOCKED)
		ended = continue_after_leave(entered, ret == (long)COSY_RUN_SECCOMP_BLOCKED);
	else if (run->status == COSY_RESULT && is_result(run, ret))
		continue_after_call(entered, ret);
	else
		ended = continue_after_failure(entered, ret);
	if (!ended && cosy_watch_loses(&entered->watch, entered->region,
				       entered->reserved,
				       run->flags & COSY_RUN_SUSPENDED))
		ended = continue_in_user_mode(entered);
	return ended;
}

__attribute__((noinline)) int64_t
cosy_kernel_resume(struct cosy_region *region, uint64_t *frame,
		   struct cosy_run *run, struct cosy_limiter *limiter,
		   bool watched, bool whole, long ret)
{
	struct entered entered = {
		.region = region,
		.reserved = cosy_reserved_of(region),
		.frame = frame,
		.run = run,
		.limiter = limiter,
		.fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED),
	};

	cosy_watch_init(&entered.watch, watched, whole);
	for (;;) {
		if (entry_done(ret)) {
			count_entry(&entered);
			entered.exit = (uint32_t)ret;
			break;
		}
		if (continue_run(&entered, ret))
			break;
		if (entered.begun)
			run->status = COSY_AGAIN;
		cosy_limiter_next_entry(limiter, run);
		cosy_watch_next_entry(&entered.watch, run,
				      entered.reserved->counts);
		entered.fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
		ret = enter(run);
		if (entered.watch.paused)
			ret = make_paused_upcalls(&entered, ret);
	}
	if (entered.exit >= 0)
		cosy_watch_end(&entered.watch, &entered.reserved->verdict);
	return entered.exit;
}
