/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - enters compounds.
 */
#ifndef COSY_RUN_H
#define COSY_RUN_H

#include <linux/fs.h>
#include <linux/types.h>

struct cosy_insn;

/* run.c */
loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence);
bool cosy_runs_counted(void);
loff_t cosy_state_lost(void);
bool cosy_regs_read_all(u64 *regs, const u64 __user *frame, unsigned int n);
bool cosy_regs_write_all(u64 __user *frame, const u64 *regs, unsigned int n);

/* single.c */
void cosy_single_init(void);
loff_t cosy_single_llseek(struct file *file, loff_t offset, int whence);
const struct cosy_insn *cosy_single_insn(unsigned int nr);

#endif /* COSY_RUN_H */
