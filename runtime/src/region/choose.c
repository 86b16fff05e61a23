/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * choose.c - cosy_region_run(): the fast path of a loaded region, and the choice of the executor.
 */
#define _GNU_SOURCE
#include "device/export.h"
#include "device/message.h"
#include "device/options.h"
#include "region/entry.h"
#include "region/kernel.h"
#include "region/region.h"
#include "region/user.h"
#include "region/watch.h"

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

/* Run the next @entries entries of a region natively, because it loses in the kernel. */
static void back_off(struct cosy_region *region, struct cosy_reserved *reserved,
		     uint32_t entries)
{
	/* If each run is counted, every entry has to call this file. */
	if (reserved->counts)
		cosy_verdict_back_off(&reserved->verdict, entries);
	else
		__atomic_store_n(&region->mode, COSY_MODE_DECIDE + entries,
				 __ATOMIC_RELAXED);
}

/*
 * Continue after the first entry of a run without limits and counts: the common part of
 * cosy_kernel_resume().
 */
static __attribute__((noinline)) int64_t
resume_plain(struct cosy_region *region, uint64_t *frame, struct cosy_run *run,
	     long ret)
{
	bool watched = cosy_reserved_of(region)->verdict.watched;

	ret = make_upcalls(region, frame, run, ret,
			   watched ? COSY_FIRST_UNWATCHED_UPCALLS : UINT32_MAX);
	if (likely(entry_done(ret)))
		return (uint32_t)ret;
	return cosy_kernel_resume(region, frame, run,
				  &(struct cosy_limiter){ 0 }, watched, false,
				  ret);
}

/*
 * Run a loaded region in the kernel, on the path that it takes later, and measure that. The run is
 * not counted, because counting an entry takes the module 260 instructions.
 */
static int64_t measure_kernel(struct cosy_region *region, struct cosy_reserved *reserved,
			      uint64_t *frame)
{
	uint64_t handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	struct cosy_suspended suspended;
	struct cosy_run run;
	uint64_t begin;
	int64_t exit;
	long ret;

	if (!handle)
		return cosy_kernel_run(region, reserved, frame, false);
	cosy_count(reserved->counts, &reserved->counts->measured, 1);
	begin = cosy_verdict_ticks();
	prepare_run(&run, &suspended, handle - 1, frame, 0);
	ret = enter(&run);
	exit = likely(entry_done(ret)) ? (uint32_t)ret :
					 resume_plain(region, frame, &run, ret);
	if (exit >= 0)
		cosy_verdict_kernel(&reserved->verdict, cosy_verdict_ticks() - begin);
	return exit;
}

/* Measure the native code of a region until cosy_region_left(). */
static int64_t measure_native(struct cosy_region *region, struct cosy_reserved *reserved)
{
	cosy_count(reserved->counts, &reserved->counts->native, 1);
	__atomic_store_n(&region->mode, COSY_MODE_MEASURED, __ATOMIC_RELAXED);
	cosy_verdict_native_begins(&reserved->verdict);
	return -1;
}

COSY_EXPORT void cosy_region_left(struct cosy_region *region)
{
	uint32_t measured = COSY_MODE_MEASURED;

	cosy_verdict_native_ends(&cosy_reserved_of(region)->verdict);
	__atomic_compare_exchange_n(&region->mode, &measured, COSY_MODE_DECIDE, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Enter a region for which libcosy may choose the executor. */
static int64_t choose(struct cosy_region *region, struct cosy_reserved *reserved,
		      uint64_t *frame)
{
	uint32_t entries;

	switch (cosy_verdict_choose(&reserved->verdict, &entries)) {
	case COSY_CHOICE_KERNEL:
		return cosy_kernel_run(region, reserved, frame, false);
	case COSY_CHOICE_WATCH:
		return cosy_kernel_run(region, reserved, frame, true);
	case COSY_CHOICE_MEASURE_KERNEL:
		return measure_kernel(region, reserved, frame);
	case COSY_CHOICE_MEASURE_NATIVE:
		return measure_native(region, reserved);
	case COSY_CHOICE_BACK_OFF:
		back_off(region, reserved, entries);
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
static inline bool backs_off(struct cosy_region *region)
{
	uint32_t mode = __atomic_load_n(&region->mode, __ATOMIC_RELAXED);

	if (likely(mode < COSY_MODE_BACK_OFF))
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
	if (cosy_device_is_paused() && cosy_region_has_native(region))
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
		return cosy_kernel_run(region, reserved, frame, false);
	case COSY_EXECUTOR_USER:
		return cosy_user_run(region, reserved, frame);
	default:
		return -1;
	}
}

static __attribute__((noinline)) int64_t run_unloaded(struct cosy_region *region,
						      uint64_t *frame)
{
	return backs_off(region) ? -1 : decide(region, frame);
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
