/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - enter compounds.
 */
#ifndef COSY_RUN_H
#define COSY_RUN_H

#include <linux/fs.h>

loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence);

#endif /* COSY_RUN_H */
