/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * entry.h - one entry of a region into the module.
 *
 * The fast path of cosy_region_run() consists of these functions, so they are inline.
 */
#ifndef COSY_REGION_ENTRY_H
#define COSY_REGION_ENTRY_H

#include <errno.h>
#include <linux/cosy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cosy/region.h>
#include <cosy/status.h>

#include "device/device.h"
#include "device/sys.h"

#define likely(x) __builtin_expect(!!(x), 1)

/**
 * cosy_errno_offset - offset of errno from the thread pointer
 *
 * It is the same in all threads, because libc is loaded with the program. kernel.c sets it before
 * any region has COSY_MODE_LOADED, so that entries need not call libc for it.
 */
extern ptrdiff_t cosy_errno_offset __attribute__((visibility("hidden")));

/** entry_done() - return true if @ret of an entry says that the compound has ended */
static inline bool entry_done(long ret)
{
	return (uint64_t)ret >> 32 == COSY_RUN_DONE >> 32;
}

/** enter() - enter the module; return its result, see linux/cosy.h, or -EBADF without a device */
static inline long enter(struct cosy_run *run)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);

	/* Filters may forbid the call, even if it would fail. */
	if (!likely(fd >= 0))
		return -EBADF;
	return cosy_sys(SYS_lseek, fd, (long)(COSY_RUN_TAG | (uintptr_t)run),
			COSY_RUN_WHENCE);
}

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/** prepare_run() - set @run for the first entry of a run */
static inline void prepare_run(struct cosy_run *run,
			       struct cosy_suspended *suspended,
			       uint64_t handle, uint64_t *frame, uint32_t flags)
{
	run->handle = handle;
	run->frame = (uintptr_t)frame;
	run->errno_addr = thread_pointer() +
			  (uintptr_t)__atomic_load_n(&cosy_errno_offset,
						     __ATOMIC_RELAXED);
	run->pc = 0;
	run->status = COSY_DONE;
	run->flags = flags;
	run->slice = 0;
	run->suspended = (uintptr_t)suspended;
}

/**
 * make_upcalls() - make up-calls of a run without counts, after an entry
 * @region: @frame: @run: the run
 * @ret: result of the entry
 * @max: the maximum number of up-calls
 *
 * Return: the result of the last entry.
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

#endif /* COSY_REGION_ENTRY_H */
