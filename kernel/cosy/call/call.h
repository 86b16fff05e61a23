/* SPDX-License-Identifier: GPL-2.0 */
/*
 * call.h - makes nested calls, and decides which calls must be made from user mode.
 */
#ifndef COSY_CALL_H
#define COSY_CALL_H

#include <linux/entry-common.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
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
bool cosy_must_audit(void);

/* seccomp.c */
void cosy_seccomp_init(void);
bool cosy_seccomp_allows(const struct pt_regs *regs, unsigned int nr);
bool cosy_seccomp_blocks_entry(void);
bool cosy_seccomp_allows_device(void);
bool cosy_seccomp_allows_program(void);

/**
 * cosy_ptraced() - return true if the current thread is traced by ptrace
 *
 * The result may be stale: when a tracer that has just attached stops the thread, the
 * compound leaves.
 *
 * Return: true if it is traced.
 */
static __always_inline bool cosy_ptraced(void)
{
	bool traced;

	BUILD_BUG_ON(sizeof(current->ptrace) != 4);
	/* The tracer writes it at any time. Compilers emit three instructions for READ_ONCE(). */
	asm volatile("cmpl $0, %[ptrace]"
		     : "=@ccnz" (traced)
		     : [ptrace] "m" (current->ptrace));
	return traced;
}

/**
 * cosy_seccomp_state() - return a value that changes when the current thread gets a filter
 *
 * Filters are never removed, so their number only increases.
 *
 * Return: the seccomp mode and the number of filters, in one word.
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
 * Return true if a nested call may be made. It bypasses the kernel's work at the entry
 * of a system call. Calls that this work must see are made from user mode. The result can
 * change at any time.
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

/* A call with too few arguments must not receive data of the kernel's stack. */
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

/* The functions that make nested calls, by index. */
extern cosy_callee_fn *cosy_callees[];
u16 cosy_env_callee(unsigned int nr);
void __init cosy_parks_init(unsigned int nr, cosy_callee_fn *callee);
u16 cosy_parks_callee(unsigned int nr);

/*
 * A callee of cosy_parks_init() returns this, and sets @parked of its environment, to leave the
 * compound with COSY_RESULT.
 */
#define COSY_PARKED	(-EIOCBQUEUED)

static __always_inline long cosy_env_call(struct cosy_env *env,
					  unsigned int nr, unsigned int callee)
{
	long ret;

	/* @nr equals it, but can be any number on a mispredicted path. */
	env->regs.orig_ax = callee;
	ret = cosy_callees[callee](&env->regs);
	asm("" : "+a" (ret));
	return ret;
}

/* Return true if a system call returns @ret when a signal has interrupted it. */
static inline bool cosy_is_restart(long ret)
{
	switch (ret) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return true;
	default:
		return false;
	}
}

/*
 * Return true if a call with the result @ret is made again after the signal. Without a signal it is
 * an ordinary result: lseek() in /proc/self/mem returns any number.
 */
static inline bool cosy_call_restarts(long ret)
{
	return cosy_is_restart(ret) && signal_pending(current);
}

static inline bool cosy_env_restart(struct cosy_env *env, long ret)
{
	return cosy_call_restarts(ret) || (ret == COSY_PARKED && env->parked);
}

#endif /* COSY_CALL_H */
