// SPDX-License-Identifier: GPL-2.0
/*
 * history.c - clears the CPU's branch history if the kernel does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/static_call.h>

#include "call/history.h"
#include "kernel/symbols.h"

static bool clear_branch_history;
module_param(clear_branch_history, bool, 0444);
MODULE_PARM_DESC(clear_branch_history,
		 "clear the branch history, also on CPUs that do not need it (default N)");

DEFINE_STATIC_KEY_FALSE(cosy_history_clears);

/* Kernels without these features do not clear the history at system calls. */
#ifdef X86_FEATURE_CLEAR_BHB_LOOP
#define COSY_CLEARS_BY_LOOP	boot_cpu_has(X86_FEATURE_CLEAR_BHB_LOOP)
#define COSY_CLEARS_BY_CPU	boot_cpu_has(X86_FEATURE_CLEAR_BHB_HW)
#else
#define COSY_CLEARS_BY_LOOP	false
#define COSY_CLEARS_BY_CPU	false
#endif

/* Replaced by the kernel's clear_bhb_loop(), which later kernels export only to KVM. */
static void cosy_no_loop(void)
{
}

DEFINE_STATIC_CALL(cosy_clear_loop, cosy_no_loop);

/**
 * cosy_history_init() - enable clearing if this CPU needs it
 *
 * The kernel has decided before, from the CPU and its command line.
 *
 * Return: 0; -EOPNOTSUPP with a message if the history must but cannot be cleared.
 */
int __init cosy_history_init(void)
{
	void *loop;

	if (clear_branch_history || COSY_CLEARS_BY_LOOP) {
		loop = cosy_symbol("clear_bhb_loop");
		if (!loop) {
			pr_err("the branch history must be cleared, but this kernel has no clear_bhb_loop()\n");
			return -EOPNOTSUPP;
		}
		static_call_update(cosy_clear_loop, (void (*)(void))loop);
	}
	if (clear_branch_history || COSY_CLEARS_BY_LOOP || COSY_CLEARS_BY_CPU)
		static_branch_enable(&cosy_history_clears);
	return 0;
}

/**
 * cosy_history_clear_now() - the slow path of cosy_history_clear()
 *
 * With BHI_DIS_S the CPU ignores history from user mode, but a compound's history is
 * from kernel mode. IBHF is the barrier for that; on other CPUs it is a no-op.
 */
void cosy_history_clear_now(void)
{
	static_call(cosy_clear_loop)();
	if (COSY_CLEARS_BY_CPU)
		asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xf8" : : : "memory");
}
