// SPDX-License-Identifier: GPL-2.0
/*
 * slice.c - the CPU time after which a run leaves the kernel for a moment.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

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

static void cosy_slice_set(struct cosy_slice *slice)
{
	slice->runtime = cosy_cpu_time();
	slice->clock = local_clock();
	slice->switches = current->nvcsw + current->nivcsw;
}

/**
 * cosy_slice_begin() - begin to count CPU time
 * @slice: where it is counted
 */
void cosy_slice_begin(struct cosy_slice *slice)
{
	slice->used = 0;
	cosy_slice_set(slice);
}

/**
 * cosy_slice_look() - add the CPU time since the last look
 * @slice: where it is counted
 *
 * The scheduler accounts CPU time at ticks and at context switches; with NO_HZ_FULL there may be no
 * ticks. Without a context switch, all elapsed time is this thread's CPU time.
 *
 * Return: that time in ns.
 */
u64 cosy_slice_look(struct cosy_slice *slice)
{
	const struct cosy_slice before = *slice;
	u64 spent;

	cosy_slice_set(slice);
	spent = slice->switches == before.switches ? slice->clock - before.clock :
						     slice->runtime - before.runtime;
	slice->used += spent;
	return spent;
}
