// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls.c - makes nested calls.
 *
 * Since 6.9, and in later stable kernels, the kernel's entry code finds the function of
 * a number by comparisons: x64_sys_call(). The table that it used before still exists,
 * for tracing, and its entries accept indirect calls. The calls that a compound may
 * make are copied from there once, into a table that is read-only afterwards. A slot
 * of a compound contains an index into it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/nospec.h>
#include <linux/syscalls.h>
#include <linux/unistd.h>

#include <cosy/calls.h>

#include "call/call.h"
#include "call/history.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"

/* Indices after the kernel's system call numbers. */
enum {
	COSY_CALLEE_NOTHING = NR_syscalls,
	/* The calls of compounds that a loop parks. */
#define COSY_PARKS(name) COSY_CALLEE_##name,
#include <syscalls.def>
	NR_COSY_CALLEES
};

/*
 * The functions by system call number, then those of the enum above. A slot that is no
 * call has index 0. No index reaches a call that must not be nested (syscalls.def).
 */
cosy_callee_fn *cosy_callees[NR_COSY_CALLEES] __ro_after_init;

/* The same functions, if every entry of cosy_callees[] is cosy_call_cleared(). */
static cosy_callee_fn *cosy_cleared_callees[NR_COSY_CALLEES] __ro_after_init;

/* Used if the kernel has no table. */
static long cosy_call_by_number(const struct pt_regs *regs)
{
	return cosy_internal(x64_sys_call)(regs, regs->orig_ax);
}

static long cosy_call_nothing(const struct pt_regs *regs)
{
	return -ENOSYS;
}

/* Used only on CPUs that need it, so that calls on others cost nothing more. */
static long cosy_call_cleared(const struct pt_regs *regs)
{
	unsigned long index = regs->orig_ax;

	/* A caller has forgotten to set it. */
	if (WARN_ON_ONCE(index >= NR_COSY_CALLEES))
		return -ENOSYS;
	cosy_history_clear();
	return cosy_cleared_callees[array_index_nospec(index, NR_COSY_CALLEES)](regs);
}

/**
 * cosy_env_callee() - return the index of the function that makes a system call
 * @nr: its number
 *
 * Return: the index in cosy_callees[].
 */
u16 cosy_env_callee(unsigned int nr)
{
	return min_t(unsigned int, nr, COSY_CALLEE_NOTHING);
}

/**
 * cosy_parks_callee() - cosy_env_callee() for a compound that a loop parks
 * @nr: its number, cosy_call_parks()
 *
 * Return: the index in cosy_callees[].
 */
u16 cosy_parks_callee(unsigned int nr)
{
	switch (nr) {
#define COSY_PARKS(name) case __NR_##name: return COSY_CALLEE_##name;
#include <syscalls.def>
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
 * cosy_parks_init() - set the function that makes a call of a compound that a loop parks
 * @nr:	    its number, cosy_call_parks()
 * @callee: the function
 *
 * Must be called after cosy_syscalls_init().
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
