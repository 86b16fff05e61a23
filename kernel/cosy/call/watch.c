// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - find out whether a call has to be made from user mode, where it is visible.
 */
#include <linux/sched.h>
#include <linux/thread_info.h>

#include "call/call.h"

/**
 * cosy_traced() - test whether the current thread, or its system calls, are traced
 *
 * Apart from auditing and seccomp, which may have nothing to say.
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
 * @st: the run, the arguments are set
 * @nr: the call's number
 *
 * Two watchers may have nothing to say about a call: auditing without rules,
 * and seccomp filters that allow it.
 *
 * Return: true if the call, or with COSY_STEP_TRACED all calls from here on, must
 * be made from user mode; env->step says why.
 */
bool cosy_env_watched(struct cosy_state *st, unsigned int nr)
{
	struct cosy_env *env = &st->env;
	unsigned long work = READ_ONCE(current_thread_info()->syscall_work) &
			     SYSCALL_WORK_ENTER;

	if (work & ~(SYSCALL_WORK_SYSCALL_AUDIT | SYSCALL_WORK_SECCOMP))
		goto watched;
	if (work & SYSCALL_WORK_SYSCALL_AUDIT && cosy_audit_looks())
		goto watched;
	if (work & SYSCALL_WORK_SECCOMP &&
	    !cosy_seccomp_allows(&env->regs, nr)) {
		/* It meets the filters in user mode; the next one may run here. */
		env->step = COSY_STEP_CALL;
		return true;
	}
	return false;

watched:
	env->step = COSY_STEP_TRACED;
	return true;
}
