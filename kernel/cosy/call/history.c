// SPDX-License-Identifier: GPL-2.0
/*
 * history.c - clear the CPU's branch history where the kernel does.
 */
#include <linux/moduleparam.h>

#include "call/history.h"

static bool clear_branch_history;
module_param(clear_branch_history, bool, 0444);
MODULE_PARM_DESC(clear_branch_history,
		 "clear the branch history also on CPUs that do not need it (default N)");

DEFINE_STATIC_KEY_FALSE(cosy_history_clears);

/* Kernels without these mitigate branch history injection otherwise, or not. */
#ifdef X86_FEATURE_CLEAR_BHB_LOOP
#define COSY_CLEARS_BY_LOOP	boot_cpu_has(X86_FEATURE_CLEAR_BHB_LOOP)
#define COSY_CLEARS_BY_CPU	boot_cpu_has(X86_FEATURE_CLEAR_BHB_HW)
#else
#define COSY_CLEARS_BY_LOOP	false
#define COSY_CLEARS_BY_CPU	false
#endif

/**
 * cosy_history_init() - does this CPU need it?
 *
 * The kernel has decided by now, from the CPU and its command line.
 */
void __init cosy_history_init(void)
{
	if (clear_branch_history || COSY_CLEARS_BY_LOOP || COSY_CLEARS_BY_CPU)
		static_branch_enable(&cosy_history_clears);
}

/**
 * cosy_history_clear_now() - the slow path of cosy_history_clear()
 *
 * With BHI_DIS_S the CPU ignores history from user mode, but a compound's is
 * from kernel mode: there IBHF, a no-op for all others, is the barrier.
 */
void cosy_history_clear_now(void)
{
#ifdef X86_FEATURE_CLEAR_BHB_LOOP
	if (clear_branch_history || COSY_CLEARS_BY_LOOP)
		clear_bhb_loop();
	if (COSY_CLEARS_BY_CPU)
		asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xf8" : : : "memory");
#endif
}
