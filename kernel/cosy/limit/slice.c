// SPDX-License-Identifier: GPL-2.0
/*
 * slice.c - the CPU time after which a run leaves the kernel for a moment.
 */
#include <linux/module.h>

#include "limit/limit.h"

unsigned int cosy_time_slice_ms = 10;
/* Refuse 0: such a slice would end before the run begins. */
static int cosy_time_slice_set(const char *text,
			       const struct kernel_param *param)
{
	unsigned int ms;
	int err = kstrtouint(text, 0, &ms);

	if (err)
		return err;
	if (!ms)
		return -EINVAL;
	WRITE_ONCE(cosy_time_slice_ms, ms);
	return 0;
}

static const struct kernel_param_ops cosy_time_slice_ops = {
	.set = cosy_time_slice_set,
	.get = param_get_uint,
};

module_param_cb(time_slice, &cosy_time_slice_ops, &cosy_time_slice_ms, 0644);
MODULE_PARM_DESC(time_slice,
		 "ms of CPU time after which a compound leaves the kernel for a moment, at least 1 (default 10)");
