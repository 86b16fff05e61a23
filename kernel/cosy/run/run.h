/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - enters compounds.
 */
#ifndef COSY_RUN_H
#define COSY_RUN_H

#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/types.h>

struct cosy_insn;

/* run.c, with the module's parameters max_run_operations and max_run_ms */
extern ulong cosy_max_run_operations;
extern unsigned int cosy_max_run_ms;
loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence);
loff_t cosy_state_lost(void);
bool cosy_regs_read_all(u64 *regs, const u64 __user *frame, unsigned int n);
bool cosy_regs_write_all(u64 __user *frame, const u64 *regs, unsigned int n);

/**
 * cosy_runs_limited() - test whether runs have to be counted, because they have limits
 *
 * Return: true if the module's parameters limit runs.
 */
static __always_inline bool cosy_runs_limited(void)
{
	return unlikely(READ_ONCE(cosy_max_run_ms) | READ_ONCE(cosy_max_run_operations));
}

/* single.c */
void cosy_single_init(void);
loff_t cosy_single_llseek(struct file *file, loff_t offset, int whence);
const struct cosy_insn *cosy_single_insn(unsigned int nr);

#endif /* COSY_RUN_H */
