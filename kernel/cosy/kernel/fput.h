/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fput.h - drops a reference to a file immediately, like close() since 6.6, and not on the
 * return to user mode.
 */
#ifndef COSY_KERNEL_FPUT_H
#define COSY_KERNEL_FPUT_H

#include <linux/file.h>
#include <linux/fs.h>

#include "compat/compat.h"
#include "kernel/internals.h"

#ifdef COSY_FPUT_SYNC_ANYWHERE
#define COSY_FPUT_NEEDS		0

static inline void cosy_fput_now(struct file *file)
{
	__fput_sync(file);
}
#else
#define COSY_FPUT_NEEDS		COSY_NEEDS(__fput)

static inline void cosy_fput_now(struct file *file)
{
	if (atomic_long_dec_and_test(&file->f_count))
		cosy_internal(__fput)(file);
}
#endif

#endif /* COSY_KERNEL_FPUT_H */
