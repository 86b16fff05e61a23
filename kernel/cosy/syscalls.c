// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls.c - make a system call from inside another one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/nospec.h>
#include <linux/static_call.h>
#include <linux/syscalls.h>

#include <cosy/exec.h>

#include "internal.h"

typedef long (*cosy_table_entry)(const struct pt_regs *regs);

static cosy_table_entry *cosy_call_table;

/**
 * cosy_table_call() - make a system call through the kernel's table
 * @regs: the arguments, as user mode would have them
 * @nr:   number
 *
 * For kernels without x64_sys_call(). The entries of the table accept indirect
 * calls.
 *
 * Return: what the call returns.
 */
long cosy_table_call(const struct pt_regs *regs, unsigned int nr)
{
	if (nr >= NR_syscalls)
		return -ENOSYS;
	return cosy_call_table[array_index_nospec(nr, NR_syscalls)](regs);
}

DEFINE_STATIC_CALL(cosy_sys_call, cosy_table_call);

/**
 * cosy_syscalls_init() - find the way to make system calls
 *
 * Since 6.9, and in the stable kernels after that, the table is no longer what
 * calls are dispatched by; x64_sys_call() is.
 *
 * Return: 0, or -EOPNOTSUPP with a message.
 */
int cosy_syscalls_init(void)
{
	cosy_sys_call_fn call = cosy_symbol("x64_sys_call");

	if (call) {
		static_call_update(cosy_sys_call, call);
		return 0;
	}
	cosy_call_table = cosy_symbol("sys_call_table");
	if (cosy_call_table)
		return 0;
	pr_err("this kernel has neither x64_sys_call() nor sys_call_table: system calls cannot be made from a module\n");
	return -EOPNOTSUPP;
}
