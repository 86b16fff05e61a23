/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.c - run regions: enter the kernel, resume what it left early, finish
 * in user mode what it cannot do.
 *
 * All that is known about a run is in its frame and in variables on the stack
 * here. Nothing is held or counted up that an up-call or a signal handler that
 * leaves by longjmp() could leave behind.
 *
 * A compound that has begun is always finished as a compound: by the user-mode
 * executor if the kernel is no longer there, for the native code can only be
 * entered at its beginning. Its decoded code exists before the first entry.
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
#include "held.h"
#include "library.h"
#include "limit.h"
#include "message.h"
#include "options.h"
#include "region.h"
#include "stats.h"
#include "sys.h"

#define likely(x) __builtin_expect(!!(x), 1)

/* How often one entry tries to get its descriptor or handle back. */
#define MAX_RECOVERIES 4

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
 * Where errno is, from the thread pointer: the same in all threads, since libc is
 * loaded with the program. Set before any region has COSY_MODE_LOADED: asking
 * libc at every entry would be a call.
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
	frame[code->nregs] = 0;
}

/* Operations until the next look at the limits. */
#define LIMITED_CHUNK	(1 << 16)

static enum cosy_status execute(struct cosy_held *held, struct cosy_state *st,
				struct cosy_limiter *limiter)
{
	int64_t given = (int64_t)held->code->limit;
	enum cosy_status status;

	if (limiter->limits)
		given = limiter->left < LIMITED_CHUNK ? limiter->left :
							LIMITED_CHUNK;
	st->budget = given;
	status = cosy_exec(held->code, st);
	if (limiter->limits && status != COSY_DONE)
		limiter->left -= given - st->budget;
	if (held->counts) {
		cosy_count(&held->counts->syscalls, st->calls);
		st->calls = 0;
	}
	return status;
}

static void call_up(const struct cosy_region *region, struct cosy_held *held,
		    uint64_t *frame, uint64_t number)
{
	if (held->counts)
		cosy_count(&held->counts->upcalls, 1);
	region->thunks[number](frame);
}

/* Run from @pc to the end in user mode. Return: the exit. */
static int64_t finish_in_user_mode(const struct cosy_region *region,
				   struct cosy_held *held, uint64_t *frame,
				   uint32_t pc, struct cosy_limiter *limiter)
{
	struct cosy_state st;

	if (held->counts)
		cosy_count(&held->counts->user, 1);
	state_init(&st, held->code, frame, pc);
	for (;;) {
		switch (execute(held, &st, limiter)) {
		case COSY_DONE:
			return (int64_t)st.value;
		case COSY_UPCALL:
			call_up(region, held, frame, st.value);
			break;
		default:	/* COSY_LIMIT */
			break;
		}
		cosy_limiter_look(limiter, region, frame, st.pc);
	}
}

static int64_t run_in_user_mode(const struct cosy_region *region,
				struct cosy_held *held, uint64_t *frame)
{
	struct cosy_limiter limiter;

	for (uint32_t i = held->code->ninputs; i < held->code->nregs; i++)
		frame[i] = 0;
	cosy_limiter_begin(&limiter, region);
	return finish_in_user_mode(region, held, frame, 0, &limiter);
}

/*
 * Do in user mode what the kernel cannot: from run->pc until after the next
 * call or back-edge. Return: the exit, or -1 to resume at run->pc.
 */
static int64_t step_in_user_mode(const struct cosy_region *region,
				 struct cosy_held *held, uint64_t *frame,
				 struct cosy_run *run,
				 struct cosy_limiter *limiter)
{
	enum cosy_status status;
	struct cosy_state st;

	if (held->counts)
		cosy_count(&held->counts->steps, 1);
	state_init(&st, held->code, frame, run->pc);
	st.env.single = true;
	status = execute(held, &st, limiter);
	run->pc = st.pc;
	if (status == COSY_DONE)
		return (int64_t)st.value;
	if (status == COSY_UPCALL)
		call_up(region, held, frame, st.value);
	return -1;
}

/* Store @result of the interrupted call at run->pc, and move behind it. */
static void take_result(struct cosy_held *held, uint64_t *frame,
			struct cosy_run *run, long result)
{
	struct cosy_state st;

	state_init(&st, held->code, frame, run->pc);
	cosy_exec_result(held->code, &st, result);
	run->pc = st.pc;
}

/*
 * In the kernel
 */

/* Who asks what ran where is told why, once: the next one has the same reason. */
static void explain_given_up(const struct cosy_region *region, int error)
{
	struct cosy_options options = cosy_options();
	static bool explained;
	struct cosy_number line;

	if (!(options.stats || options.debug) ||
	    __atomic_exchange_n(&explained, true, __ATOMIC_RELAXED))
		return;
	cosy_message(region->file, region->line ? ":" : "",
		     region->line ? cosy_number(&line, region->line) : "",
		     ": does not run in the kernel any more: " COSY_DEVICE
		     ": ", strerrordesc_np(-error), NULL);
}

/*
 * The region cannot run in the kernel any more, because of @error. A region has
 * its native code, and need not come here again; a compound of cosy_init() has
 * only user mode.
 */
static void give_up_kernel(struct cosy_region *region, struct cosy_held *held,
			   int error)
{
	bool native = cosy_region_has_native(region);

	explain_given_up(region, error);
	__atomic_store_n(&held->executor,
			 native ? COSY_EXECUTOR_NATIVE : COSY_EXECUTOR_USER,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&region->mode,
			 native && !held->counts ? COSY_MODE_NATIVE :
						   COSY_MODE_DECIDE,
			 __ATOMIC_RELAXED);
}

/*
 * An entry failed with @ret and nothing was executed: the program has closed
 * our descriptor, or a child process got a file of its own, which does not
 * have the handle. Return: true if it can be tried again.
 */
static bool recover(struct cosy_region *region, struct cosy_held *held,
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
		/* Then it was the module that answered, not another file. */
		if (now == fd && ret != -ENOENT && ret != -EBADF)
			return false;
		error = cosy_held_load(region, held, run->handle + 1);
	}
	if (error < 0) {
		if (cosy_device_gone(error))
			give_up_kernel(region, held, error);
		return false;
	}
	run->handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE) - 1;
	return true;
}

/*
 * Is @ret of an entry with status COSY_RESULT the result of the call at pc?
 * No, if the kernel restarted the entry and our descriptor was gone by then:
 * no interrupted call ends in one of these ways.
 */
static bool is_result(long ret)
{
	return ret != -EBADF && ret != -ESPIPE && ret != -ENXIO;
}

static void count_entry(struct cosy_held *held, struct cosy_run *run)
{
	cosy_count(&held->counts->entries, 1);
	cosy_count(&held->counts->syscalls, run->calls);
	run->calls = 0;
}

/* The next entry may do what is left, no more. */
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

/* Was the run left in a function that cannot be begun again? */
static bool must_go_on(const struct cosy_run *run)
{
	const struct cosy_suspended *suspended = (const void *)run->suspended;

	return run->flags & COSY_RUN_SUSPENDED && suspended->wrote;
}

/*
 * Finish a run that cannot enter any more. A function that it was left in can
 * only go on in the kernel: it fails.
 */
static int64_t finish_run(const struct cosy_region *region,
			  struct cosy_held *held, uint64_t *frame,
			  struct cosy_run *run, struct cosy_limiter *limiter)
{
	if (run->flags & COSY_RUN_SUSPENDED) {
		run->value = COSY_FUNCTION_LOST;
		run->failure = (struct cosy_function_failure){
			.wrote = must_go_on(run),
		};
		cosy_function_hooks->failed(region, held, frame, run);
	}
	return finish_in_user_mode(region, held, frame, run->pc, limiter);
}

/**
 * resume() - go on after an entry, until the compound is done
 * @run: the run, entered once
 * @limiter: its limits
 * @ret: what the entry returned
 *
 * Return: the exit; -1 if nothing was executed and the native code can be run.
 */
static __attribute__((noinline)) int64_t
resume(struct cosy_region *region, uint64_t *frame, struct cosy_run *run,
       struct cosy_limiter *limiter, long ret)
{
	struct cosy_held *held = __atomic_load_n(&region->state,
						 __ATOMIC_ACQUIRE);
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
	unsigned int recoveries = 0;
	bool begun = false, capped;
	int64_t exit;

	for (;;) {
		if (entry_done(ret)) {
			if (held->counts)
				count_entry(held, run);
			return (uint32_t)ret;
		}
		if (ret == (long)COSY_RUN_LEFT || ret == (long)COSY_RUN_BARRED) {
			begun = true;
			recoveries = 0;
			if (held->counts)
				count_entry(held, run);
			if (ret == (long)COSY_RUN_BARRED)
				cosy_device_bar();
			if (run->flags & COSY_RUN_LIMIT)
				limiter->left = (int64_t)run->limit;
			switch (run->status) {
			case COSY_DONE:
				return (int64_t)run->value;
			case COSY_UPCALL:
				if (!region->nfunctions ||
				    !cosy_function_hooks ||
				    !cosy_function_hooks->upcall(region, held,
								 frame, run))
					call_up(region, held, frame,
						run->value);
				break;
			case COSY_FAILED:
				cosy_function_hooks->failed(region, held, frame,
							    run);
				break;
			case COSY_STEP:
				if (run->value == COSY_STEP_TRACED) {
					cosy_device_park();
					return finish_in_user_mode(region, held,
								   frame,
								   run->pc,
								   limiter);
				}
				exit = step_in_user_mode(region, held, frame,
							 run, limiter);
				if (exit >= 0)
					return exit;
				break;
			default:
				/* COSY_LIMIT; COSY_AGAIN: a handler has run. */
				break;
			}
			if (limiter->limits)
				cosy_limiter_look(limiter, region, frame,
						  run->pc);
			capped = run->flags & COSY_RUN_CAPPED &&
				 !must_go_on(run);
			if (capped)
				cosy_limiter_stop(region, frame, run->pc);
			if (capped || ret == (long)COSY_RUN_BARRED)
				return finish_run(region, held, frame, run,
						  limiter);
		} else if (run->status == COSY_RESULT && is_result(ret)) {
			begun = true;
			recoveries = 0;
			if (held->counts)
				count_entry(held, run);
			if (run->flags & COSY_RUN_LIMIT)
				limiter->left = (int64_t)run->limit;
			take_result(held, frame, run, ret);
		} else {
			/*
			 * It may be an entry that the kernel restarted after
			 * it had begun.
			 */
			begun |= run->pc != 0 || run->status != COSY_DONE;
			if (recoveries++ == MAX_RECOVERIES ||
			    !recover(region, held, run, fd, ret)) {
				if (begun)
					return finish_run(region, held, frame,
							  run, limiter);
				if (cosy_region_has_native(region))
					return -1;
				return run_in_user_mode(region, held, frame);
			}
		}
		if (begun)
			run->status = COSY_AGAIN;
		limit_entry(run, limiter);
		fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);
		ret = enter(run);
	}
}

static int64_t run_in_kernel(struct cosy_region *region,
			     struct cosy_held *held, uint64_t *frame)
{
	uint64_t handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	struct cosy_suspended suspended;
	struct cosy_limiter limiter;
	struct cosy_run run;

	if (!handle) {
		int error = cosy_held_load(region, held, 0);

		if (error < 0) {
			if (cosy_device_gone(error))
				give_up_kernel(region, held, error);
			if (cosy_region_has_native(region))
				return -1;
			return run_in_user_mode(region, held, frame);
		}
		handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	}
	__atomic_store_n(&errno_offset,
			 (ptrdiff_t)((uintptr_t)&errno - thread_pointer()),
			 __ATOMIC_RELAXED);
	if (!held->counts && !region->limits)
		__atomic_store_n(&region->mode, COSY_MODE_LOADED,
				 __ATOMIC_RELEASE);
	prepare_run(&run, &suspended, handle - 1, frame,
		    held->counts ? COSY_RUN_COUNT : 0);
	run.calls = 0;
	cosy_limiter_begin(&limiter, region);
	limit_entry(&run, &limiter);
	return resume(region, frame, &run, &limiter, enter(&run));
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

/* Everything but the straight way into the kernel. */
static __attribute__((noinline)) int64_t decide(struct cosy_region *region,
						uint64_t *frame)
{
	struct cosy_held *held;
	struct cosy_number line;
	struct cosy_diag diag;

	if (region->abi != COSY_REGION_ABI)
		return -1;
	/* Not even what getting ready takes is to be seen by who traces. */
	if (cosy_device_parked() && cosy_region_has_native(region))
		return -1;
	held = cosy_held_get(region, cosy_region_executor(region), &diag);
	if (!held) {
		if (!cosy_region_has_native(region))
			cosy_message(region->file, ":",
				     cosy_number(&line, region->line),
				     ": out of memory: this run of the region"
				     " is without its limits", NULL);
		if (diag.reason) {
			explain_invalid(region, &diag);
			__atomic_store_n(&region->mode, COSY_MODE_NATIVE,
					 __ATOMIC_RELAXED);
		}
		return -1;
	}
	if (held->counts)
		cosy_count(&held->counts->runs, 1);
	switch (__atomic_load_n(&held->executor, __ATOMIC_RELAXED)) {
	case COSY_EXECUTOR_KERNEL:
		return run_in_kernel(region, held, frame);
	case COSY_EXECUTOR_USER:
		return run_in_user_mode(region, held, frame);
	default:
		return -1;
	}
}

/*
 * Go on after the first entry of a run without limits, which nobody counts: what
 * resume() does, too, among much else.
 */
static __attribute__((noinline)) int64_t
resume_plain(struct cosy_region *region, uint64_t *frame, struct cosy_run *run,
	     long ret)
{
	while (ret == (long)COSY_RUN_LEFT && run->status == COSY_UPCALL &&
	       !(run->flags | region->nfunctions)) {
		region->thunks[run->value](frame);
		run->status = COSY_AGAIN;
		ret = enter(run);
	}
	if (likely(entry_done(ret)))
		return (uint32_t)ret;
	return resume(region, frame, run, &(struct cosy_limiter){ 0 }, ret);
}

COSY_EXPORT int64_t cosy_region_run(struct cosy_region *region, uint64_t *frame)
{
	struct cosy_suspended suspended;
	struct cosy_run run;
	long ret;

	if (!likely(__atomic_load_n(&region->mode, __ATOMIC_ACQUIRE) ==
		    COSY_MODE_LOADED))
		return decide(region, frame);
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
		       options.executor == COSY_EXECUTOR_KERNEL;

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
			     "() is not the C library's, but the program's own or"
			     " of a library loaded before (COSY_OWN at its"
			     " declaration makes it an up-call)", NULL);
}

COSY_EXPORT void cosy_regions_add(struct cosy_region *regions, size_t count)
{
	struct cosy_options options = cosy_options();
	struct cosy_number has, needs;
	const char *foreign;
	uint32_t mode;

	cosy_held_free_retired();
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
		mode = COSY_MODE_DECIDE;
		/* Asked in any case: later the device may be out of reach. */
		if (cosy_region_executor(&regions[i]) == COSY_EXECUTOR_NATIVE &&
		    !options.stats)
			mode = COSY_MODE_NATIVE;
		foreign = mode == COSY_MODE_NATIVE ?
				  NULL : cosy_library_foreign(regions[i].state);
		if (foreign) {
			mode = COSY_MODE_NATIVE;
			explain_foreign(&regions[i], foreign);
		}
		regions[i].handle = 0;
		regions[i].state = NULL;
		__atomic_store_n(&regions[i].mode, mode, __ATOMIC_RELEASE);
	}
}

COSY_EXPORT void cosy_regions_remove(struct cosy_region *regions, size_t count)
{
	if (!count || regions->abi != COSY_REGION_ABI)
		return;
	for (size_t i = 0; i < count; i++) {
		__atomic_store_n(&regions[i].mode, COSY_MODE_NATIVE,
				 __ATOMIC_RELAXED);
		cosy_stats_print(&regions[i]);
		cosy_held_retire(&regions[i]);
	}
}

/* Is there certainly no other thread? */
static bool is_single_threaded(void)
{
	struct stat st;

	/* A link for each thread, and two as every directory has. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/*
 * The last of the destructors: the program or library that contains this copy
 * of libcosy is unloaded, or the process ends. Then other threads may still be
 * in a region (cosy_held_retire()): they can open the device again, but must
 * not lose what they execute.
 */
__attribute__((destructor(101))) static void unload(void)
{
	/* Where filters are strict, what does not have to be asked is not. */
	if (cosy_device_barred())
		return;
	if (cosy_held_any_retired() && is_single_threaded())
		cosy_held_free_retired();
	cosy_device_close();
}
