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

#include <cosy/calls.h>

#include "call/call.h"
#include "call/history.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"

/* After the numbers that the kernel has. */
enum {
	COSY_CALLEE_NOTHING = NR_syscalls,
	/* Of compounds that a loop parks. */
#define COSY_PARKS(name) COSY_CALLEE_##name,
#include <parks.def>
	NR_COSY_CALLEES
};

/*
 * By number; then one for numbers that the kernel does not have. A slot
 * that is no call has index 0. Calls that may not be made from inside another
 * one (syscalls.def) are not in the table, whatever index is used.
 */
cosy_callee_fn *cosy_callees[NR_COSY_CALLEES] __ro_after_init;

/* The same, where cosy_callees[] has cosy_call_cleared() everywhere. */
static cosy_callee_fn *cosy_cleared_callees[NR_COSY_CALLEES] __ro_after_init;

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
	return min_t(unsigned int, nr, COSY_CALLEE_NOTHING);
}

/**
 * cosy_parks_callee() - the same for a compound that a loop parks
 * @nr: its number, cosy_call_parks()
 *
 * Return: the index in cosy_callees[].
 */
u16 cosy_parks_callee(unsigned int nr)
{
	switch (nr) {
#define COSY_PARKS(name) case __NR_##name: return COSY_CALLEE_##name;
#include <parks.def>
	default:
		return COSY_CALLEE_NOTHING;
	}
}

static void __init cosy_callee_set(unsigned int index, cosy_callee_fn *callee)
{
	bool clears = static_key_enabled(&cosy_history_clears);

	cosy_cleared_callees[index] = callee;
	cosy_callees[index] = clears ? cosy_call_cleared : callee;
}

/**
 * cosy_parks_init() - set what makes a call of a compound that a loop parks
 * @nr:	    its number, cosy_call_parks()
 * @callee: makes it
 *
 * After cosy_syscalls_init().
 */
void __init cosy_parks_init(unsigned int nr, cosy_callee_fn *callee)
{
	cosy_callee_set(cosy_parks_callee(nr), callee);
}

/**
 * cosy_syscalls_init() - find the functions that make system calls
 *
 * Return: 0, or -EOPNOTSUPP with a message.
 */
int __init cosy_syscalls_init(void)
{
	cosy_callee_fn **table = cosy_symbol("sys_call_table");
	cosy_callee_fn *callee;
	unsigned int nr;

	if (!table && !cosy_has(COSY_NEEDS(x64_sys_call))) {
		pr_err("this kernel has neither an x64_sys_call() that is known nor sys_call_table: system calls cannot be made from a module\n");
		return -EOPNOTSUPP;
	}
	for (nr = 0; nr < NR_COSY_CALLEES; nr++) {
		callee = cosy_call_nothing;
		if (nr < NR_syscalls && cosy_call_nests(nr))
			callee = table ? table[nr] : cosy_call_by_number;
		cosy_callee_set(nr, callee);
	}
	return 0;
}
