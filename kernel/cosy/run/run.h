/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - enters compounds.
 */
#ifndef COSY_RUN_H
#define COSY_RUN_H

#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/thread_info.h>

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

/*
 * The maximum of used stack at an entry. A nested call may itself enter the device, and
 * needs as much stack as any other call.
 */
#define COSY_STACK_USED_MAX	(THREAD_SIZE / 4)

/**
 * cosy_stack_suffices() - return true if enough of the stack is free to enter the device
 *
 * Return: true if at most COSY_STACK_USED_MAX bytes are used.
 */
static __always_inline bool cosy_stack_suffices(void)
{
	return (current_stack_pointer & (THREAD_SIZE - 1)) >=
	       THREAD_SIZE - COSY_STACK_USED_MAX;
}

#endif /* COSY_RUN_H */
