// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls.c - make a system call from inside another one.
 *
 * The kernel's own entry code finds the function of a number by comparing, since
 * 6.9 and in the stable kernels after that: x64_sys_call(). The table that was
 * used before still exists, for tracing, and its entries accept indirect calls.
 * What a compound may call is copied from there once, into a table that is
 * read-only afterwards; a slot of a compound holds an index into it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/syscalls.h>
#include <linux/unistd.h>

#include "call/call.h"
#include "call/history.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"

/*
 * By number; the last entry is for numbers that the kernel does not have. A slot
 * that is no call has index 0. Calls that may not be made from inside another
 * one (syscalls.def) are not in the table, whatever index is used.
 */
cosy_callee_fn *cosy_callees[NR_syscalls + 1] __ro_after_init;

/* The same, where cosy_callees[] has cosy_call_cleared() everywhere. */
static cosy_callee_fn *cosy_cleared_callees[NR_syscalls + 1] __ro_after_init;

/* Where there is no table. */
static long cosy_call_by_number(const struct pt_regs *regs)
{
	return cosy_internal(x64_sys_call)(regs, regs->orig_ax);
}

static long cosy_call_nothing(const struct pt_regs *regs)
{
	return -ENOSYS;
}

/* On CPUs that need it, so that the others pay nothing. */
static long cosy_call_cleared(const struct pt_regs *regs)
{
	cosy_history_clear();
	return cosy_cleared_callees[regs->orig_ax](regs);
}

/**
 * cosy_env_callee() - the index of what makes a system call
 * @nr: its number
 *
 * Return: the index in cosy_callees[].
 */
u16 cosy_env_callee(unsigned int nr)
{
	return min_t(unsigned int, nr, NR_syscalls);
}

/**
 * cosy_syscalls_init() - find the functions that make system calls
 *
 * Return: 0, or -EOPNOTSUPP with a message.
 */
int __init cosy_syscalls_init(void)
{
	cosy_callee_fn **table = cosy_symbol("sys_call_table");
	unsigned int nr;

	if (!table && !cosy_has(COSY_NEEDS(x64_sys_call))) {
		pr_err("this kernel has neither an x64_sys_call() that is known nor sys_call_table: system calls cannot be made from a module\n");
		return -EOPNOTSUPP;
	}
	for (nr = 0; nr <= NR_syscalls; nr++) {
		if (nr == NR_syscalls || !cosy_call_nests(nr))
			cosy_callees[nr] = cosy_call_nothing;
		else
			cosy_callees[nr] = table ? table[nr] :
						   cosy_call_by_number;
	}
	if (!static_key_enabled(&cosy_history_clears))
		return 0;
	for (nr = 0; nr <= NR_syscalls; nr++) {
		cosy_cleared_callees[nr] = cosy_callees[nr];
		cosy_callees[nr] = cosy_call_cleared;
	}
	return 0;
}
