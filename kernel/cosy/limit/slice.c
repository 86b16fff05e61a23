// SPDX-License-Identifier: GPL-2.0
/*
 * slice.c - CPU time after which a run leaves for a moment.
 */
#include <linux/module.h>

#include "limit/limit.h"

unsigned int cosy_time_slice_ms = 10;
module_param_named(time_slice, cosy_time_slice_ms, uint, 0644);
MODULE_PARM_DESC(time_slice,
		 "ms of CPU time after which a compound leaves for a moment (default 10)");
