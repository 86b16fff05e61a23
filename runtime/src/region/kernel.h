/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.h - runs regions in the kernel.
 *
 * Both functions are async-signal-safe and thread-safe. An up-call that they make may leave them
 * by longjmp().
 */
#ifndef COSY_REGION_KERNEL_H
#define COSY_REGION_KERNEL_H

#include <linux/cosy.h>
#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>

#include "region/limit.h"
#include "region/reserved.h"

/**
 * cosy_kernel_run() - run a region in the kernel, and load it if it is not loaded
 * @region:   the region
 * @reserved: its decoded code
 * @frame:    its registers; the inputs are set
 * @watched:  watch whether the run gains
 *
 * Return: the exit; -1 if nothing was executed and the native code can be run.
 */
int64_t cosy_kernel_run(struct cosy_region *region, struct cosy_reserved *reserved,
			uint64_t *frame, bool watched);

/**
 * cosy_kernel_resume() - continue after the first entry, until the compound has ended
 * @region:  the region
 * @frame:   its registers
 * @run:     the run, entered once
 * @limiter: its limits
 * @watched: watch whether the run gains
 * @whole:   it has been watched since its beginning
 * @ret:     result of the entry
 *
 * Return: the exit; -1 if nothing was executed and the native code can be run.
 */
int64_t cosy_kernel_resume(struct cosy_region *region, uint64_t *frame,
			   struct cosy_run *run, struct cosy_limiter *limiter,
			   bool watched, bool whole, long ret);

#endif /* COSY_REGION_KERNEL_H */
