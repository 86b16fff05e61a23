/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.c - runs regions: enters the kernel, resumes runs that were left early, and
 * executes in user mode what the kernel cannot.
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
#include <linux/cosy.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cosy/exec.h>
#include <cosy/region.h>

#include "device.h"
#include "export.h"
#include "function.h"
#include "library.h"
#include "limit.h"
#include "message.h"
#include "options.h"
#include "own.h"
#include "region.h"
#include "reserved.h"
#include "single.h"
#include "stats.h"
#include "sys.h"

#define likely(x) __builtin_expect(!!(x), 1)

/* How often one entry tries to get its descriptor or handle back. */
#define MAX_RECOVERIES 4

/*
 * A watched run leaves after this number of slots in loops, because the module reports the
 * number only when the run leaves. The number is doubled each time.
 */
#define FIRST_WATCHED_SLOTS	256
/* The number of up-calls after which a part of a run gets a verdict. */
#define WATCHED_UPCALLS		32
/* The number of up-calls until the next part is watched; doubled after each gain. */
#define FIRST_UNWATCHED_UPCALLS	64
#define LAST_UNWATCHED_UPCALLS	(1u << 20)
/* The number of up-calls that a run makes in user mode after a loss; doubled each time. */
#define FIRST_USER_UPCALLS	1024

const struct cosy_function_hooks *cosy_function_hooks;

/* How an entry ended, see linux/cosy.h. */
static inline bool entry_done(long ret)
{
	return (uint64_t)ret >> 32 == COSY_RUN_DONE >> 32;
}

static inline long enter(struct cosy_run *run)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);

	/* Filters may forbid the call, even if it would fail. */
	if (!likely(fd >= 0))
		return -EBADF;
	return cosy_sys(SYS_lseek, fd, (long)(COSY_RUN_TAG | (uintptr_t)run),
			COSY_RUN_WHENCE);
}

/*
 * Offset of errno from the thread pointer. It is the same in all threads, because libc is
 * loaded with the program. Set before any region has COSY_MODE_LOADED, so that entries
 * need not call libc for it.
 */
static ptrdiff_t errno_offset;

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

static inline void prepare_run(struct cosy_run *run,
			       struct cosy_suspended *suspended,
			       uint64_t handle, uint64_t *frame, uint32_t flags)
{
	run->handle = handle;
	run->frame = (uintptr_t)frame;
	run->errno_addr = thread_pointer() +
			  (uintptr_t)__atomic_load_n(&errno_offset,
						     __ATOMIC_RELAXED);
	run->pc = 0;
	run->status = COSY_DONE;
	run->flags = flags;
	run->slice = 0;
	run->suspended = (uintptr_t)suspended;
}

/*
 * In user mode
 */

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

static void call_up(const struct cosy_region *region, struct cosy_reserved *reserved,
		    uint64_t *frame, uint64_t number)
{
	cosy_count(reserved->counts, &reserved->counts->upcalls, 1);
	region->thunks[number](frame);
}

/* Run from @pc to the end in user mode. Return: the exit. */
static int64_t finish_in_user_mode(const struct cosy_region *region,
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
			call_up(region, reserved, frame, st.value);
			break;
		default:	/* COSY_LIMIT */
			break;
		}
		cosy_limiter_look(limiter, region, frame, st.pc);
	}
}

static int64_t run_in_user_mode(const struct cosy_region *region,
				struct cosy_reserved *reserved, uint64_t *frame)
{
	struct cosy_limiter limiter;

	for (uint32_t i = reserved->code->ninputs; i < reserved->code->nregs; i++)
		frame[i] = 0;
	cosy_limiter_begin(&limiter, region);
	return finish_in_user_mode(region, reserved, frame, 0, &limiter);
}

/*
 * Execute in user mode what the kernel cannot, from run->pc until after the next call or
 * back-edge. Return the exit, or -1 to resume at run->pc.
 */
static int64_t step_in_user_mode(const struct cosy_region *region,
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
		call_up(region, reserved, frame, st.value);
	return -1;
}

/* Store @result of the interrupted call at run->pc, and move after it. */
static void take_result(struct cosy_reserved *reserved, uint64_t *frame,
			struct cosy_run *run, long result)
{
	struct cosy_state st;

	state_init(&st, reserved->code, frame, run->pc);
	cosy_exec_result(reserved->code, &st, result);
	run->pc = st.pc;
}

/*
 * In the kernel
 */

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
		cosy_device_park();
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
		cosy_function_hooks->failed(region, reserved, frame, run);
	}
	return finish_in_user_mode(region, reserved, frame, run->pc, limiter);
}

/**
 * struct entered - a run that has entered the kernel at least once
 * @region: @reserved: @frame: the region
 * @run:     the run
 * @limiter: its limits
 * @fd:      the descriptor of the last entry
 * @failed:  entries in succession that executed nothing
 * @begun:   operations have been executed, so the native code cannot run any more
 * @watched: the run is being watched, in @sample
 * @whole:   it has been watched since its beginning
 * @paused:  it is not being watched now, because it has gained until now
 * @sample:  counts of the watched part
 * @slots:   number of slots that the last entry may execute in loops, if it is watched
 * @pause:   number of up-calls until it is watched again, after the next gain
 * @user_upcalls: number of up-calls to make in user mode after the next loss
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
	bool watched;
	bool whole;
	bool paused;
	struct cosy_sample sample;
	int64_t slots;
	uint32_t pause;
	uint32_t user_upcalls;
	int64_t exit;
};

/* Watch the run from the next entry on. */
static void watch(struct entered *entered)
{
	entered->paused = false;
	entered->watched = true;
	entered->sample = (struct cosy_sample){ 0 };
	entered->slots = FIRST_WATCHED_SLOTS;
}

/* Count the next entry if counts are needed. */
static void count_next_entry(struct entered *entered)
{
	struct cosy_run *run = entered->run;

	run->calls = 0;
	if (entered->watched) {
		run->flags |= COSY_RUN_COUNT | COSY_RUN_LIMIT;
		run->limit = (uint64_t)entered->slots;
	} else if (!entered->reserved->counts) {
		run->flags &= ~COSY_RUN_COUNT;
	}
}

static void end_watch(struct entered *entered)
{
	if (entered->watched && entered->whole)
		cosy_verdict_add(&entered->reserved->verdict, &entered->sample);
	entered->watched = false;
	entered->whole = false;
}

static void count_entry(struct entered *entered)
{
	struct cosy_counts *counts = entered->reserved->counts;
	struct cosy_run *run = entered->run;

	if (run->flags & COSY_RUN_COUNT) {
		cosy_count(counts, &counts->syscalls, run->calls);
		entered->sample.calls += run->calls;
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
	if (!entered->watched) {
		entered->limiter->left = (int64_t)run->limit;
		return;
	}
	entered->sample.slots += (uint64_t)(entered->slots -
					    (int64_t)run->limit);
	if ((int64_t)run->limit < 0)
		entered->slots *= 2;
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

	entered->sample.upcalls++;
	if (region->nfunctions && cosy_function_hooks &&
	    cosy_function_hooks->upcall(region, entered->reserved, entered->frame,
					run))
		return;
	call_up(region, entered->reserved, entered->frame, run->value);
}

/* Execute the operation that the module cannot. Return true if the run has ended. */
static bool run_step(struct entered *entered)
{
	struct cosy_run *run = entered->run;

	if (run->value == COSY_STEP_TRACED) {
		cosy_device_park();
		entered->exit = finish_in_user_mode(entered->region,
						    entered->reserved,
						    entered->frame, run->pc,
						    entered->limiter);
		return true;
	}
	/* To make a call natively, it leaves and enters as for an up-call. */
	entered->sample.upcalls++;
	entered->exit = step_in_user_mode(entered->region, entered->reserved,
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
		cosy_function_hooks->failed(entered->region, entered->reserved,
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
		cosy_limiter_look(entered->limiter, entered->region,
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
	take_result(entered->reserved, entered->frame, entered->run, result);
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
				run_in_user_mode(entered->region, entered->reserved,
						 entered->frame);
	return true;
}

/*
 * Continue a run in user mode that loses by its up-calls, because its native code cannot be
 * entered in the middle. Calls that gain from an entry of their own still go through the
 * module. Return true if the run has ended.
 */
static bool rest_in_user_mode(struct entered *entered)
{
	struct cosy_reserved *reserved = entered->reserved;
	uint32_t left = entered->user_upcalls;
	struct cosy_state st;

	cosy_count(reserved->counts, &reserved->counts->user, 1);
	if (entered->user_upcalls < LAST_UNWATCHED_UPCALLS)
		entered->user_upcalls *= 2;
	state_init(&st, reserved->code, entered->frame, entered->run->pc);
	if (!cosy_options().plain)
		st.env.call = cosy_single_call;
	for (;;) {
		switch (execute(reserved, &st, entered->limiter)) {
		case COSY_DONE:
			entered->exit = (int64_t)st.value;
			return true;
		case COSY_UPCALL:
			call_up(entered->region, reserved, entered->frame,
				st.value);
			if (--left)
				break;
			entered->run->pc = st.pc;
			return false;
		default:	/* COSY_LIMIT */
			break;
		}
	}
}

/* Give a verdict after WATCHED_UPCALLS of a watched run. Return true if the run has ended. */
static bool judge_run(struct entered *entered)
{
	struct cosy_region *region = entered->region;
	struct cosy_verdict *verdict = &entered->reserved->verdict;
	uint32_t loaded = COSY_MODE_LOADED;

	if (cosy_verdict_gain(verdict, &entered->sample) >= 0) {
		end_watch(entered);
		if (entered->reserved->counts)
			watch(entered);
		else
			entered->paused = true;
		return false;
	}
	/* A suspended function can only be resumed in the kernel. */
	if (entered->run->flags & COSY_RUN_SUSPENDED)
		return false;
	end_watch(entered);
	if (__atomic_load_n(&verdict->opinion, __ATOMIC_RELAXED) ==
	    COSY_OPINION_GAINS) {
		cosy_verdict_doubt(verdict);
		__atomic_compare_exchange_n(&region->mode, &loaded,
					    COSY_MODE_DECIDE, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	if (rest_in_user_mode(entered))
		return true;
	watch(entered);
	return false;
}

/*
 * Make up to @max up-calls of a run without counts, after an entry that returned @ret. Return
 * the result of the last entry.
 */
static inline long make_upcalls(const struct cosy_region *region,
				uint64_t *frame, struct cosy_run *run, long ret,
				uint32_t max)
{
	while (ret == (long)COSY_RUN_LEFT && run->status == COSY_UPCALL &&
	       !(run->flags | region->nfunctions) && max--) {
		region->thunks[run->value](frame);
		run->status = COSY_AGAIN;
		ret = enter(run);
	}
	return ret;
}

/* The run gains: make its next up-calls without watching, then watch it again. */
static long make_paused_upcalls(struct entered *entered, long ret)
{
	ret = make_upcalls(entered->region, entered->frame, entered->run, ret,
			   entered->pause);
	if (entered->pause < LAST_UNWATCHED_UPCALLS)
		entered->pause *= 2;
	entered->fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
	watch(entered);
	return ret;
}

/**
 * resume() - continue after the first entry, until the compound is done
 * @run: the run, entered once
 * @limiter: its limits
 * @watched: watch whether the run gains; @whole: from its beginning
 * @ret: result of the entry
 *
 * Return: the exit; -1 if nothing was executed and the native code can be run.
 */
static __attribute__((noinline)) int64_t
resume(struct cosy_region *region, uint64_t *frame, struct cosy_run *run,
       struct cosy_limiter *limiter, bool watched, bool whole, long ret)
{
	struct entered entered = {
		.region = region,
		.reserved = cosy_reserved_of(region),
		.frame = frame,
		.run = run,
		.limiter = limiter,
		.fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED),
		.watched = watched,
		.whole = whole,
		.sample.entries = whole,
		.slots = FIRST_WATCHED_SLOTS,
		.pause = FIRST_UNWATCHED_UPCALLS,
		.user_upcalls = FIRST_USER_UPCALLS,
	};

	for (;;) {
		bool ended = false;

		if (entry_done(ret)) {
			count_entry(&entered);
			end_watch(&entered);
			return (uint32_t)ret;
		}
		if (ret == (long)COSY_RUN_LEFT || ret == (long)COSY_RUN_BARRED)
			ended = continue_after_leave(
				&entered, ret == (long)COSY_RUN_BARRED);
		else if (run->status == COSY_RESULT && is_result(ret))
			continue_after_call(&entered, ret);
		else
			ended = continue_after_failure(&entered, ret);
		if (!ended && entered.watched &&
		    entered.sample.upcalls >= WATCHED_UPCALLS)
			ended = judge_run(&entered);
		if (ended) {
			if (entered.exit >= 0)
				end_watch(&entered);
			return entered.exit;
		}
		if (entered.begun)
			run->status = COSY_AGAIN;
		limit_entry(run, limiter);
		count_next_entry(&entered);
		entered.fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
		ret = enter(run);
		if (entered.paused)
			ret = make_paused_upcalls(&entered, ret);
	}
}

static int64_t run_in_kernel(struct cosy_region *region,
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
			return run_in_user_mode(region, reserved, frame);
		}
		handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	}
	__atomic_store_n(&errno_offset,
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
		run.limit = FIRST_WATCHED_SLOTS;
	}
	return resume(region, frame, &run, &limiter, watched, watched,
		      enter(&run));
}

static void explain_invalid(const struct cosy_region *region,
			    const struct cosy_diag *diag)
{
	struct cosy_number line, offset;

	if (cosy_options().debug)
		cosy_message(region->file, ":",
			     cosy_number(&line, region->line),
			     ": not a valid compound: offset ",
			     cosy_number(&offset, diag->offset), ": ",
			     diag->reason, "; the region runs natively", NULL);
}

/* Run the next @rest entries of a region natively, because it loses in the kernel. */
static void rest(struct cosy_region *region, struct cosy_reserved *reserved,
		 uint32_t entries)
{
	/* If each run is counted, every entry has to call this file. */
	if (reserved->counts)
		cosy_verdict_rest(&reserved->verdict, entries);
	else
		__atomic_store_n(&region->mode, COSY_MODE_DECIDE + entries,
				 __ATOMIC_RELAXED);
}

/* Enter a region for which libcosy may choose the executor. */
static int64_t choose(struct cosy_region *region, struct cosy_reserved *reserved,
		      uint64_t *frame)
{
	uint32_t entries;

	switch (cosy_verdict_choose(&reserved->verdict, &entries)) {
	case COSY_CHOICE_KERNEL:
		return run_in_kernel(region, reserved, frame, false);
	case COSY_CHOICE_WATCH:
		return run_in_kernel(region, reserved, frame, true);
	case COSY_CHOICE_REST:
		rest(region, reserved, entries);
		break;
	default:
		if (!reserved->counts)
			__atomic_store_n(&region->mode, COSY_MODE_NATIVE,
					 __ATOMIC_RELAXED);
		break;
	}
	cosy_count(reserved->counts, &reserved->counts->native, 1);
	return -1;
}

/*
 * Return true if the region runs natively for this entry because it lost. After the last
 * of these entries its mode is COSY_MODE_DECIDE.
 */
static inline bool rests(struct cosy_region *region)
{
	uint32_t mode = __atomic_load_n(&region->mode, __ATOMIC_RELAXED);

	if (likely(mode < COSY_MODE_REST))
		return false;
	/* If several threads do this concurrently, one of them counts. */
	__atomic_compare_exchange_n(&region->mode, &mode, mode - 1, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

/* The slow path: everything but an entry of a loaded region. */
static __attribute__((noinline)) int64_t decide(struct cosy_region *region,
						uint64_t *frame)
{
	struct cosy_reserved *reserved;
	struct cosy_number line;
	struct cosy_diag diag;

	if (region->abi != COSY_REGION_ABI)
		return -1;
	/* A tracer must not see the system calls of the preparation either. */
	if (cosy_device_parked() && cosy_region_has_native(region))
		return -1;
	reserved = cosy_reserved_get(region, cosy_region_executor(region),
				     &diag);
	if (!reserved) {
		if (!cosy_region_has_native(region))
			cosy_message(region->file, ":",
				     cosy_number(&line, region->line),
				     ": out of memory: the limits of the region"
				     " do not apply to this run", NULL);
		if (diag.reason) {
			explain_invalid(region, &diag);
			__atomic_store_n(&region->mode, COSY_MODE_NATIVE,
					 __ATOMIC_RELAXED);
		}
		return -1;
	}
	cosy_count(reserved->counts, &reserved->counts->runs, 1);
	switch (__atomic_load_n(&reserved->executor, __ATOMIC_RELAXED)) {
	case COSY_EXECUTOR_KERNEL:
		if (reserved->verdict.watched)
			return choose(region, reserved, frame);
		return run_in_kernel(region, reserved, frame, false);
	case COSY_EXECUTOR_USER:
		return run_in_user_mode(region, reserved, frame);
	default:
		return -1;
	}
}

static __attribute__((noinline)) int64_t run_unloaded(struct cosy_region *region,
						      uint64_t *frame)
{
	return rests(region) ? -1 : decide(region, frame);
}

/*
 * Continue after the first entry of a run without limits and counts: the common part of
 * resume().
 */
static __attribute__((noinline)) int64_t
resume_plain(struct cosy_region *region, uint64_t *frame, struct cosy_run *run,
	     long ret)
{
	bool watched = cosy_reserved_of(region)->verdict.watched;

	ret = make_upcalls(region, frame, run, ret,
			   watched ? FIRST_UNWATCHED_UPCALLS : UINT32_MAX);
	if (likely(entry_done(ret)))
		return (uint32_t)ret;
	return resume(region, frame, run, &(struct cosy_limiter){ 0 }, watched,
		      false, ret);
}

COSY_EXPORT int64_t cosy_region_run(struct cosy_region *region, uint64_t *frame)
{
	struct cosy_suspended suspended;
	struct cosy_run run;
	long ret;

	if (!likely(__atomic_load_n(&region->mode, __ATOMIC_ACQUIRE) ==
		    COSY_MODE_LOADED))
		return run_unloaded(region, frame);
	prepare_run(&run, &suspended,
		    __atomic_load_n(&region->handle, __ATOMIC_RELAXED) - 1,
		    frame, 0);
	ret = enter(&run);
	if (likely(entry_done(ret)))
		return (uint32_t)ret;
	return resume_plain(region, frame, &run, ret);
}

/*
 * Regions come and go
 */

enum cosy_executor cosy_region_executor(const struct cosy_region *region)
{
	struct cosy_options options = cosy_options();
	bool explain = options.debug ||
		       options.executor == COSY_EXECUTOR_KERNEL ||
		       options.functions == COSY_FUNCTIONS_KERNEL;

	if (options.executor == COSY_EXECUTOR_USER)
		return COSY_EXECUTOR_USER;
	if (options.executor != COSY_EXECUTOR_NATIVE &&
	    cosy_device_available(explain))
		return COSY_EXECUTOR_KERNEL;
	return cosy_region_has_native(region) ? COSY_EXECUTOR_NATIVE :
						COSY_EXECUTOR_USER;
}

static void explain_foreign(const struct cosy_region *region, const char *name)
{
	struct cosy_options options = cosy_options();
	struct cosy_number line;

	if (options.stats || options.debug)
		cosy_message(region->file, region->line ? ":" : "",
			     region->line ? cosy_number(&line, region->line) : "",
			     ": runs natively: ", name,
			     "() is not the C library's function, but that of the"
			     " program or of a library loaded before (COSY_OWN at"
			     " its declaration makes it an up-call), or code compiled"
			     " with -fno-pie takes its address (use -fPIE)", NULL);
}

bool cosy_region_is_used(const struct cosy_region *region)
{
	return cosy_region_executor(region) != COSY_EXECUTOR_NATIVE ||
	       cosy_options().stats;
}

COSY_EXPORT void cosy_regions_add(struct cosy_region *regions, size_t count)
{
	struct cosy_options options = cosy_options();
	struct cosy_number has, needs;
	const char *foreign;
	struct cosy_diag diag;
	uint32_t mode;

	cosy_reserved_free_retired();
	cosy_stats_init();
	if (!count)
		return;
	/* All of them come from one compilation, hence have one layout. */
	if (regions->abi != COSY_REGION_ABI) {
		if (options.debug)
			cosy_message("regions have ABI ",
				     cosy_number(&has, regions->abi),
				     ", this libcosy needs ",
				     cosy_number(&needs, COSY_REGION_ABI),
				     "; they run natively (compile the program"
				     " with the plugin of this libcosy)", NULL);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		/* Ask in any case, because the device may not be accessible later. */
		mode = cosy_region_is_used(&regions[i]) ? COSY_MODE_DECIDE :
							  COSY_MODE_NATIVE;
		foreign = mode == COSY_MODE_NATIVE ?
				  NULL : cosy_library_foreign(regions[i].state);
		if (foreign) {
			mode = COSY_MODE_NATIVE;
			explain_foreign(&regions[i], foreign);
		}
		__atomic_store_n(&regions[i].mode, mode, __ATOMIC_RELEASE);
	}
	cosy_reserved_add(regions, count);
	for (size_t i = 0; i < count; i++) {
		/* Decode it now: while it is decoded it would have to run natively. */
		if (regions[i].mode != COSY_MODE_NATIVE &&
		    !cosy_region_has_native(&regions[i]))
			cosy_reserved_get(&regions[i],
					  cosy_region_executor(&regions[i]),
					  &diag);
	}
}

COSY_EXPORT void cosy_is_not_linked__use_cosy_cc_or_lcosy(struct cosy_region *regions,
							   size_t count)
	__attribute__((alias("cosy_regions_add")));

COSY_EXPORT void cosy_regions_remove(struct cosy_region *regions, size_t count)
{
	struct cosy_reserved *reserved;

	if (!count || regions->abi != COSY_REGION_ABI)
		return;
	/* Counts may still be printed. */
	if (cosy_in_program() && !cosy_options().stats)
		return;
	for (size_t i = 0; i < count; i++) {
		__atomic_store_n(&regions[i].mode, COSY_MODE_NATIVE,
				 __ATOMIC_RELAXED);
		reserved = cosy_reserved_of(&regions[i]);
		if (reserved && reserved->counts)
			cosy_stats_print_last(&reserved->counts->counted);
	}
	cosy_reserved_retire(regions, count);
}

/* Return true if there is certainly no other thread. */
static bool is_single_threaded(void)
{
	struct stat st;

	/* One link for each thread, and the two of every directory. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/*
 * The last destructor: the library that contains this copy of libcosy is unloaded, or the
 * process ends. Other threads may still run regions. They can open the device again, but
 * their decoded code must stay.
 */
__attribute__((destructor(101))) static void unload(void)
{
	if (cosy_in_program())
		return;
	/* A strict seccomp filter may kill for a system call, so make none. */
	if (cosy_device_barred())
		return;
	if (cosy_reserved_any_mapped() && is_single_threaded())
		cosy_reserved_unmap();
	cosy_stats_exit();
	cosy_device_close();
}
