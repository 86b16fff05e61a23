/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.c - runs regions in the kernel: resumes runs that were left early, makes their up-calls,
 * and has what the kernel cannot execute done in user mode.
 *
 * The state of a run is in its frame and in variables on the stack. No lock or count is
 * held that an up-call or a signal handler could leave behind by longjmp().
 *
 * A compound that has begun is always finished as a compound, because the native code can
 * only be entered at its beginning. If the module cannot be used any more, the user-mode
 * executor finishes it. Its decoded code exists before the first entry.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include <cosy/function.h>

#include "device/message.h"
#include "device/options.h"
#include "function/hooks.h"
#include "region/entry.h"
#include "region/kernel.h"
#include "region/limit.h"
#include "region/region.h"
#include "region/user.h"
#include "region/watch.h"

/* How often one entry tries to get its descriptor or handle back. */
#define MAX_RECOVERIES 4

ptrdiff_t cosy_errno_offset;

/*
 * Print why the region does not run in the kernel, for COSY_STATS, COSY_DEBUG and executor=kernel.
 * Once per process, because the next region has the same reason.
 */
static void explain_given_up(const struct cosy_region *region, bool loaded,
			     int error)
{
	struct cosy_options options = cosy_options();
	const char *reason = cosy_reserved_limit(error);
	static bool explained;
	struct cosy_number line;

	if (!(options.stats || options.debug ||
	      options.executor == COSY_EXECUTOR_KERNEL) ||
	    __atomic_exchange_n(&explained, true, __ATOMIC_RELAXED))
		return;
	cosy_message(region->file, region->line ? ":" : "",
		     region->line ? cosy_number(&line, region->line) : "",
		     ": does not run in the kernel",
		     loaded ? " any more: " : ": ",
		     reason ? reason : COSY_DEVICE ": ",
		     reason ? "" : strerrordesc_np(-error), NULL);
}

/*
 * Stop running the region in the kernel, because of @error. A region then runs natively, a
 * compound of cosy_init() in user mode.
 */
static void give_up_kernel(struct cosy_region *region, struct cosy_reserved *reserved,
			   int error)
{
	bool native = cosy_region_has_native(region);

	explain_given_up(region, __atomic_load_n(&region->handle,
						 __ATOMIC_RELAXED) != 0, error);
	__atomic_store_n(&reserved->executor,
			 native ? COSY_EXECUTOR_NATIVE : COSY_EXECUTOR_USER,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&region->mode,
			 native && !reserved->counts ? COSY_MODE_NATIVE :
						   COSY_MODE_DECIDE,
			 __ATOMIC_RELAXED);
}

/*
 * Recover from an entry that failed with @ret and executed nothing: the program has closed
 * the descriptor, or a child process has opened the device anew, and its file does not have
 * the handle. Return true if the entry can be tried again.
 */
static bool recover(struct cosy_region *region, struct cosy_reserved *reserved,
		    struct cosy_run *run, int fd, long ret)
{
	int now, error;

	if (ret == -EBUSY) {
		cosy_device_pause();
		return false;
	}
	now = cosy_device_get();
	error = now;
	if (now >= 0) {
		/*
		 * With the same descriptor, the error is from the module and not from another
		 * file.
		 */
		if (now == fd && ret != -ENOENT && ret != -EBADF)
			return false;
		error = cosy_reserved_load(region, reserved, run->handle + 1);
	}
	if (error < 0) {
		if (cosy_device_gone(error))
			give_up_kernel(region, reserved, error);
		return false;
	}
	run->handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE) - 1;
	return true;
}

/*
 * Return true if @ret of an entry with status COSY_RESULT is the result of the call at
 * pc. It is not if the kernel restarted the entry and the device's descriptor was closed
 * by then: no interrupted call ends with one of these errors.
 */
static bool is_result(long ret)
{
	return ret != -EBADF && ret != -ESPIPE && ret != -ENXIO;
}

/* Limit the next entry to the rest of the run's limits. */
static void limit_entry(struct cosy_run *run, const struct cosy_limiter *limiter)
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
		cosy_device_bar();
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
	    recover(entered->region, entered->reserved, entered->run, entered->fd,
		    error))
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

	if (ret == (long)COSY_RUN_LEFT || ret == (long)COSY_RUN_BARRED)
		ended = continue_after_leave(entered, ret == (long)COSY_RUN_BARRED);
	else if (run->status == COSY_RESULT && is_result(ret))
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
		limit_entry(run, limiter);
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

int64_t cosy_kernel_run(struct cosy_region *region,
			struct cosy_reserved *reserved, uint64_t *frame,
			bool watched)
{
	uint64_t handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	struct cosy_suspended suspended;
	struct cosy_limiter limiter;
	struct cosy_run run;

	if (!handle) {
		int error = cosy_reserved_load(region, reserved, 0);

		if (error < 0) {
			if (cosy_device_gone(error))
				give_up_kernel(region, reserved, error);
			if (cosy_region_has_native(region))
				return -1;
			return cosy_user_run(region, reserved, frame);
		}
		handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	}
	__atomic_store_n(&cosy_errno_offset,
			 (ptrdiff_t)((uintptr_t)&errno - thread_pointer()),
			 __ATOMIC_RELAXED);
	if (!reserved->counts && !region->limits && !watched)
		__atomic_store_n(&region->mode, COSY_MODE_LOADED,
				 __ATOMIC_RELEASE);
	prepare_run(&run, &suspended, handle - 1, frame,
		    reserved->counts ? COSY_RUN_COUNT : 0);
	run.calls = 0;
	cosy_limiter_begin(&limiter, region);
	limit_entry(&run, &limiter);
	if (watched) {
		run.flags |= COSY_RUN_COUNT | COSY_RUN_LIMIT;
		run.limit = COSY_FIRST_WATCHED_SLOTS;
	}
	return cosy_kernel_resume(region, frame, &run, &limiter, watched,
				  watched, enter(&run));
}
