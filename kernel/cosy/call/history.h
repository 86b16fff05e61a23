/* SPDX-License-Identifier: GPL-2.0 */
/*
 * history.h - clear the CPU's branch history where the kernel does.
 *
 * On CPUs with branch history injection (BHI) the kernel clears the history at
 * every entry of a system call, so that a process cannot choose, by the branches
 * it executes before, what the kernel's indirect branches are predicted to do. A
 * compound branches as its process wants it, inside the kernel. So the history is
 * cleared again after a compound's branches and before the kernel's code: before
 * each nested call, each fast path and each user function, and when a compound
 * is left. That is what the kernel does after the classic BPF programs of users.
 */
#ifndef COSY_HISTORY_H
#define COSY_HISTORY_H

#include <linux/jump_label.h>

#include <asm/cpufeature.h>

DECLARE_STATIC_KEY_FALSE(cosy_history_clears);

int cosy_history_init(void);
void cosy_history_clear_now(void);

/**
 * cosy_history_clear() - clear it if this CPU needs that
 *
 * One no-op where it does not. Any context.
 */
static __always_inline void cosy_history_clear(void)
{
	if (static_branch_unlikely(&cosy_history_clears))
		cosy_history_clear_now();
}

#endif /* COSY_HISTORY_H */
