// SPDX-License-Identifier: GPL-2.0
/*
 * request.c - returns from a call of the process that a signal has interrupted.
 */
#include <linux/errno.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "call/request.h"

/**
 * cosy_request_interrupted() - return from a call that was interrupted
 * @ucall:  where it is
 * @result: its result
 *
 * The kernel enters again with the same arguments, or changes @result to EINTR for a handler
 * without SA_RESTART. Then EINTR is the result of the call.
 *
 * Return: the result of the entry.
 */
loff_t cosy_request_interrupted(struct cosy_call __user *ucall, long result)
{
	if (put_user(COSY_CALL_INTERRUPTED, &ucall->status)) {
		/* The process has lost the answer. */
		force_sig(SIGSEGV);
		return -EFAULT;
	}
	return result;
}
