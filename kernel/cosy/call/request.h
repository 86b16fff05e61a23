/* SPDX-License-Identifier: GPL-2.0 */
/*
 * request.h - one system call whose number and arguments are in the process's memory, a struct
 * cosy_call.
 */
#ifndef COSY_REQUEST_H
#define COSY_REQUEST_H

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <cosy/exec.h>
#include <linux/cosy.h>

#include "compat/compat.h"

/*
 * The maximum of used stack at an entry. A nested call may itself enter the device, and
 * needs as much stack as any other call.
 */
#define COSY_STACK_USED_MAX	(THREAD_SIZE / 4)

/**
 * cosy_stack_suffices() - return true if enough of the stack is free to enter the device
 *
 * Return: true if at most COSY_STACK_USED_MAX bytes are used.
 */
static __always_inline bool cosy_stack_suffices(void)
{
	return (current_stack_pointer & (THREAD_SIZE - 1)) >=
	       THREAD_SIZE - COSY_STACK_USED_MAX;
}

/**
 * cosy_request_read() - read the call from the process's memory, once
 * @nr:	   out: its number in the low half; the high half can be anything
 * @args:  out: COSY_MAX_ARGS arguments
 * @ucall: where it is; any address
 *
 * Return: false if the memory cannot be read.
 */
static __always_inline bool cosy_request_read(u64 *nr, u64 *args,
					      const struct cosy_call __user *ucall)
{
	const void __user *p = ucall;

	if (!cosy_user_begin(&p, sizeof(*ucall)))
		return false;
	ucall = p;
	BUILD_BUG_ON(ARRAY_SIZE(ucall->args) != COSY_MAX_ARGS);
	cosy_unsafe_get_u64(nr, (const u64 __user *)&ucall->nr, fault);
	cosy_unsafe_get_u64(&args[0], &ucall->args[0], fault);
	cosy_unsafe_get_u64(&args[1], &ucall->args[1], fault);
	cosy_unsafe_get_u64(&args[2], &ucall->args[2], fault);
	cosy_unsafe_get_u64(&args[3], &ucall->args[3], fault);
	cosy_unsafe_get_u64(&args[4], &ucall->args[4], fault);
	cosy_unsafe_get_u64(&args[5], &ucall->args[5], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* request.c */
loff_t cosy_request_interrupted(struct cosy_call __user *ucall, long result);

#endif /* COSY_REQUEST_H */
