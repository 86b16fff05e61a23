/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recover.h - what to do if a region cannot enter the kernel.
 *
 * Both functions are async-signal-safe and thread-safe.
 */
#ifndef COSY_REGION_RECOVER_H
#define COSY_REGION_RECOVER_H

#include <linux/cosy.h>
#include <stdbool.h>

#include <cosy/region.h>

#include "region/reserved.h"

/**
 * cosy_kernel_recover() - recover from an entry that failed and executed nothing
 * @region:   the region
 * @reserved: its decoded code
 * @run:      the run; its handle is changed if the region was loaded again
 * @fd:       the descriptor of the entry
 * @ret:      result of the entry
 *
 * The program may have closed the descriptor. In a child process that has opened the device anew,
 * the file does not have the handle.
 *
 * Return: true if the entry can be tried again.
 */
bool cosy_kernel_recover(struct cosy_region *region, struct cosy_reserved *reserved,
			 struct cosy_run *run, int fd, long ret);

/**
 * cosy_kernel_give_up() - stop running a region in the kernel
 * @region:   the region. It runs natively from now on, a compound of cosy_init() in user mode
 * @reserved: its decoded code
 * @error:    why, -errno
 */
void cosy_kernel_give_up(struct cosy_region *region, struct cosy_reserved *reserved,
			 int error);

#endif /* COSY_REGION_RECOVER_H */
