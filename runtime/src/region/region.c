/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.c - which executor may run a region.
 */
#include "device/device.h"
#include "region/region.h"

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

bool cosy_region_is_used(const struct cosy_region *region)
{
	return (cosy_region_executor(region) != COSY_EXECUTOR_NATIVE &&
		!cosy_region_loses(region)) || cosy_options().stats;
}
