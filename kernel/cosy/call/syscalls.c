// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls.c - make a system call from inside another one.
 *
 * The kernel's own entry code finds what a number means by comparing, since 6.9
 * and in the stable kernels after that: x64_sys_call(). What a compound calls is
 * looked up once, when it is loaded, in the table that was used before and that
 * is still there for tracing. The table's entries accept indirect calls, with
 * which a compound is full anyway; where one goes is in a slot, and nothing that
 * comes from the process can be mistaken for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/nospec.h>
#include <linux/static_call.h>
#include <linux/syscalls.h>

#include "call/call.h"
#include "kernel/symbols.h"

static cosy_callee_fn **cosy_call_table __ro_after_init;

static long cosy_no_call(const struct pt_regs *regs, unsigned int nr)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_sys_call, cosy_no_call);

/* Where there is no table. */
static long cosy_call_by_number(const struct pt_regs *regs)
{
	return static_call(cosy_sys_call)(regs, regs->orig_ax);
}

/**
 * cosy_env_callee() - what makes a system call
 * @nr: its number
 *
 * Return: the address of a cosy_callee_fn, which like all of the kernel's code is
 * in the last 2 GiB.
 */
s32 cosy_env_callee(unsigned int nr)
{
	cosy_callee_fn *callee = cosy_call_by_number;

	if (cosy_call_table && nr < NR_syscalls)
		callee = cosy_call_table[array_index_nospec(nr, NR_syscalls)];
	return (s32)(long)callee;
}

/**
 * cosy_syscalls_init() - find the way to make system calls
 *
 * Return: 0, or -EOPNOTSUPP with a message.
 */
int cosy_syscalls_init(void)
{
	void *call = cosy_symbol("x64_sys_call");

	if (call)
		static_call_update(cosy_sys_call, call);
	cosy_call_table = cosy_symbol("sys_call_table");
	if (call || cosy_call_table)
		return 0;
	pr_err("this kernel has neither x64_sys_call() nor sys_call_table: system calls cannot be made from a module\n");
	return -EOPNOTSUPP;
}
