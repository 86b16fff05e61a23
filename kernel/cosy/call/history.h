/* SPDX-License-Identifier: GPL-2.0 */
/*
 * history.h - clears the CPU's branch history if the kernel does.
 *
 * On CPUs with branch history injection (BHI) the kernel clears the history at
 * every entry of a system call. Otherwise the branches that a process executed before
 * could control the predictions of the kernel's indirect branches. A process also
 * controls the branches of its compounds, inside the kernel. So the history is cleared
 * between them and the kernel's code: before each nested call, each fast path and each
 * user function, and when a compound leaves. The kernel does the same after the classic
 * BPF programs of users.
 */
#ifndef COSY_HISTORY_H
#define COSY_HISTORY_H

#include <linux/jump_label.h>

#include <asm/cpufeature.h>

DECLARE_STATIC_KEY_FALSE(cosy_history_clears);

int cosy_history_init(void);
void cosy_history_clear_now(void);

/**
 * cosy_history_clear() - clear the branch history if this CPU needs it
 *
 * It is one no-op on other CPUs. Can be called in any context.
 */
static __always_inline void cosy_history_clear(void)
{
	if (static_branch_unlikely(&cosy_history_clears))
		cosy_history_clear_now();
}

#endif /* COSY_HISTORY_H */
