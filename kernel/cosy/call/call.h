/* SPDX-License-Identifier: GPL-2.0 */
/*
 * call.h - make system calls from inside another one, unless something has to see them
 * come from user mode.
 */
#ifndef COSY_CALL_H
#define COSY_CALL_H

#include <linux/entry-common.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/thread_info.h>
#include <linux/types.h>

#include <cosy/exec.h>

/* syscalls.c */
int __init cosy_syscalls_init(void);

/* watch.c */
bool cosy_traced(void);
bool cosy_env_watched(struct cosy_state *st, unsigned int nr);

/* audit.c */
void cosy_audit_init(void);
bool cosy_audit_looks(void);

/* seccomp.c */
void cosy_seccomp_init(void);
bool cosy_seccomp_allows(const struct pt_regs *regs, unsigned int nr);
bool cosy_seccomp_blocks_entry(void);
bool cosy_seccomp_allows_device(void);

/**
 * cosy_ptraced() - test whether the current thread is traced by ptrace
 *
 * The answer may be stale. What a tracer that has just attached stops the thread for makes a
 * compound leave.
 *
 * Return: true if it is.
 */
static __always_inline bool cosy_ptraced(void)
{
	/* Written by the tracer, at any time. */
	return data_race(READ_ONCE(current->ptrace));
}

/**
 * cosy_seccomp_state() - changes when the current thread gets a filter
 *
 * Its mode and the number of its filters, which are never taken away.
 *
 * Return: mode and number in one word.
 */
static __always_inline u64 cosy_seccomp_state(void)
{
#ifdef CONFIG_SECCOMP
	BUILD_BUG_ON(offsetof(struct seccomp, mode) != 0 ||
		     offsetof(struct seccomp, filter_count) != 4);
	/* Another thread may set its filter in this one at any time. */
	return data_race(READ_ONCE(*(u64 *)&current->seccomp));
#else
	return 0;
#endif
}

/*
 * A nested call bypasses all that happens at the entry of a system call. If tracing,
 * filters or auditing have to see the call, it is made from user mode. That can change
 * at any time.
 */
static __always_inline bool cosy_may_make(cosy_self *self, struct cosy_state *st,
					  unsigned int nr)
{
	if (likely(!cosy_any_bits(&self->syscall_work, SYSCALL_WORK_ENTER)))
		return true;
	return !cosy_env_watched(st, nr);
}

static __always_inline bool cosy_env_may_call(cosy_self *self,
					      struct cosy_state *st,
					      const struct cosy_insn *ip)
{
	return cosy_may_make(self, st, ip->imm);
}

static __always_inline void cosy_env_arg(struct cosy_env *env, unsigned int i,
					 u64 val)
{
	switch (i) {
	case 0:
		env->regs.di = val;
		break;
	case 1:
		env->regs.si = val;
		break;
	case 2:
		env->regs.dx = val;
		break;
	case 3:
		env->regs.r10 = val;
		break;
	case 4:
		env->regs.r8 = val;
		break;
	default:
		env->regs.r9 = val;
		break;
	}
}

/* A call that is given too few arguments must not see our stack. */
static __always_inline void cosy_env_clear_args(struct cosy_env *env)
{
	env->regs.di = 0;
	env->regs.si = 0;
	env->regs.dx = 0;
	env->regs.r10 = 0;
	env->regs.r8 = 0;
	env->regs.r9 = 0;
}

typedef long cosy_callee_fn(const struct pt_regs *regs);

/* By their numbers: the calls that may be made from inside another one. */
extern cosy_callee_fn *cosy_callees[];
u16 cosy_env_callee(unsigned int nr);
void __init cosy_parks_init(unsigned int nr, cosy_callee_fn *callee);
u16 cosy_parks_callee(unsigned int nr);

/*
 * What a callee of cosy_parks_init() returns, and no system call, to leave the compound
 * with COSY_RESULT.
 */
#define COSY_PARKED	(-EIOCBQUEUED)

static __always_inline long cosy_env_call(struct cosy_env *env,
					  unsigned int nr, unsigned int callee)
{
	long ret;

	/* @nr is the same number, but any number for a CPU that mispredicts. */
	env->regs.orig_ax = callee;
	ret = cosy_callees[callee](&env->regs);
	asm("" : "+a" (ret));
	return ret;
}

static inline bool cosy_env_restart(struct cosy_env *env, long ret)
{
	switch (ret) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
	case COSY_PARKED:
		return true;
	default:
		return false;
	}
}

#endif /* COSY_CALL_H */
