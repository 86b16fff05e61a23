// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - decides if a call must be made from user mode, where it is visible.
 */
#include <linux/sched.h>
#include <linux/thread_info.h>

#include "call/call.h"

/**
 * cosy_traced() - return true if the current thread or its system calls are traced
 *
 * Ignores auditing and seccomp, which do not concern every call.
 *
 * Return: true if calls have to be made from user mode to be seen.
 */
bool cosy_traced(void)
{
	return cosy_ptraced() ||
	       (READ_ONCE(current_thread_info()->syscall_work) &
		SYSCALL_WORK_ENTER &
		~(SYSCALL_WORK_SYSCALL_AUDIT | SYSCALL_WORK_SECCOMP));
}

/**
 * cosy_env_watched() - the slow path of cosy_may_make()
 * @st: the run, with the call's arguments set
 * @nr: the call's number
 *
 * Auditing without rules, and seccomp filters that allow the call, do not need to see it.
 *
 * Return: true if the call must be made from user mode; env->step has the reason. With
 * COSY_STEP_TRACED all later calls must be made from user mode, too.
 */
bool cosy_env_watched(struct cosy_state *st, unsigned int nr)
{
	struct cosy_env *env = &st->env;
	unsigned long work = READ_ONCE(current_thread_info()->syscall_work) &
			     SYSCALL_WORK_ENTER;

	if (work & ~(SYSCALL_WORK_SYSCALL_AUDIT | SYSCALL_WORK_SECCOMP))
		goto watched;
	if (work & SYSCALL_WORK_SYSCALL_AUDIT && cosy_must_audit())
		goto watched;
	if (work & SYSCALL_WORK_SECCOMP &&
	    !cosy_seccomp_allows(&env->regs, nr)) {
		/* The filters run for it in user mode. The next call may be made here. */
		env->step = COSY_STEP_CALL;
		return true;
	}
	return false;

watched:
	env->step = COSY_STEP_TRACED;
	return true;
}
