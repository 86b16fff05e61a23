/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.h - which executor may run a region.
 */
#ifndef COSY_RUNTIME_REGION_H
#define COSY_RUNTIME_REGION_H

#include <stdbool.h>

#include <cosy.h>
#include <cosy/region.h>

#include "device/options.h"

/**
 * cosy_region_has_native() - test whether there is native code to run instead
 * @region: a region of a program, or the one inside a struct cosy
 */
static inline bool cosy_region_has_native(const struct cosy_region *region)
{
	const struct cosy_limits *limits = region->limits;

	/* cosy_init() knows of no place in a program. */
	return region->function && (!limits || limits->policy == COSY_RESUME);
}

/**
 * cosy_region_executor() - return the executor that runs a region
 * @region: the region
 *
 * Opens the device, unless the options exclude the kernel. Thread-safe; async-signal-safe
 * after the first call of the process.
 *
 * Return: KERNEL, USER or NATIVE.
 */
enum cosy_executor cosy_region_executor(const struct cosy_region *region);

/**
 * cosy_region_is_used() - test whether a region may run as a compound, or is counted
 * @region: the region
 *
 * Return: false if only its native code ever runs. All calls return the same.
 */
bool cosy_region_is_used(const struct cosy_region *region);

/**
 * cosy_region_is_watched() - test whether a region runs natively when it loses
 * @region: a region that may run in the kernel
 *
 * Return: false if libcosy does not choose the executor: COSY_EXECUTOR is set; the region has
 * limits, which only a compound observes; it calls user functions, which choose by themselves; or
 * it is a part of a COSY_ASYNC function, which is not entered for each call.
 */
static inline bool cosy_region_is_watched(const struct cosy_region *region)
{
	return cosy_options().executor == COSY_EXECUTOR_AUTO &&
	       region->function && !region->limits && !region->nfunctions &&
	       !(region->flags & COSY_REGION_ASYNC);
}

/**
 * cosy_region_loses() - test whether a part of a COSY_ASYNC function is to run natively
 * @region: the part
 *
 * The same at each call. Return: true if its compound costs more than it saves, and the user has
 * not asked for an executor.
 */
static inline bool cosy_region_loses(const struct cosy_region *region)
{
	return region->flags & COSY_REGION_LOSES &&
	       cosy_options().executor == COSY_EXECUTOR_AUTO;
}

#endif /* COSY_RUNTIME_REGION_H */
