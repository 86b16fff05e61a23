/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.c - begins a run in the kernel: loads the region, and makes the first entry.
 */
#include <errno.h>

#include "function/counters.h"
#include "region/entry.h"
#include "region/kernel.h"
#include "region/limit.h"
#include "region/recover.h"
#include "region/region.h"
#include "region/user.h"
#include "region/watch.h"

ptrdiff_t cosy_errno_offset;

int64_t cosy_kernel_run(struct cosy_region *region,
			struct cosy_reserved *reserved, uint64_t *frame,
			bool watched)
{
	uint64_t handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE);
	struct cosy_suspended suspended;
	struct cosy_limiter limiter;
	struct cosy_run run;

	if (!handle) {
		int error = cosy_reserved_load(region, 0);

		if (error < 0) {
			if (cosy_device_gone(error))
				cosy_kernel_give_up(region, reserved, error);
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
	cosy_limiter_next_entry(&limiter, &run);
	if (watched) {
		run.flags |= COSY_RUN_COUNT | COSY_RUN_LIMIT;
		run.limit = COSY_FIRST_WATCHED_SLOTS;
	}
	return cosy_kernel_resume(region, frame, &run, &limiter, watched,
				  watched, enter(&run));
}
