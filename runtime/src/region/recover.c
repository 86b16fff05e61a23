/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recover.c - gets the descriptor or the handle of a region back, or stops running it in the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "device/device.h"
#include "device/message.h"
#include "device/options.h"
#include "region/recover.h"
#include "region/region.h"

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

void cosy_kernel_give_up(struct cosy_region *region, struct cosy_reserved *reserved,
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

bool cosy_kernel_recover(struct cosy_region *region, struct cosy_reserved *reserved,
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
		 * The entry was not made by it: after a pause, the file still has the compound. The
		 * descriptor may also have been away for a moment, and be the same again.
		 */
		if (now != fd || ret == -EBADF)
			return true;
		/* The error is from the module, not from another file. */
		if (ret != -ENOENT)
			return false;
		error = cosy_reserved_load(region, run->handle + 1);
	}
	if (error < 0) {
		if (cosy_device_gone(error))
			cosy_kernel_give_up(region, reserved, error);
		return false;
	}
	run->handle = __atomic_load_n(&region->handle, __ATOMIC_ACQUIRE) - 1;
	return true;
}
