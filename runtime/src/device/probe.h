/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * probe.h - finds out whether memory of the process can be read.
 *
 * Needs no C library: preload/ includes it.
 */
#ifndef COSY_PROBE_H
#define COSY_PROBE_H

#include <asm/unistd.h>
#include <linux/errno.h>
#include <stdbool.h>

#include "device/sys.h"

#define COSY_PAGE	4096ul

/**
 * cosy_can_read() - test whether the process may read a page
 * @page: its address
 *
 * The kernel reads the new limit, unless its address is NULL, before it rejects the resource. The
 * dynamic linker makes this call, so a seccomp filter below which programs are executed does not
 * kill for it. If it returns another error, nothing is known. Async-signal-safe, thread-safe, keeps
 * errno.
 *
 * Return: false if the page cannot be read.
 */
static inline bool cosy_can_read(unsigned long page)
{
	return page && cosy_sys6(__NR_prlimit64, 0, ~0u, (long)page, 0, 0, 0) != -EFAULT;
}

#endif /* COSY_PROBE_H */
