// SPDX-License-Identifier: GPL-2.0
/*
 * descriptor.c - a descriptor whose number the process does not miss.
 *
 * open() returns the lowest free number, and fails when the numbers below the
 * limit are used up. A library that keeps a descriptor changes neither if the
 * number of its own is the limit itself, which no call gives. A process cannot
 * ask for that number without raising the limit for all its threads.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/static_call.h>

#include <linux/cosy.h>

#include "compat/compat.h"
#include "kernel/descriptor.h"
#include "kernel/symbols.h"

/* So many libraries in a process may each keep one. */
#define NUMBERS	64

/* The kernel's, not exported. */
int alloc_fd(unsigned int start, unsigned int end, unsigned int flags);

DEFINE_STATIC_CALL_NULL(cosy_alloc_fd, alloc_fd);

/* It was found. */
static bool cosy_has_alloc_fd __ro_after_init;

/**
 * cosy_descriptor_init() - find what chooses numbers
 */
void cosy_descriptor_init(void)
{
	cosy_has_alloc_fd = COSY_INTERNALS_KNOWN &&
			    COSY_FIND(cosy_alloc_fd, "alloc_fd");
}

/**
 * cosy_descriptor_hide() - give a file another descriptor, at the limit
 * @file: an open file of the device
 *
 * No process gets more descriptors by it than it may have: the numbers depend
 * on the soft limit, which it may raise up to the hard one anyway.
 *
 * Return: the descriptor, or as the interface says.
 */
long cosy_descriptor_hide(struct file *file)
{
	unsigned long limit = rlimit(RLIMIT_NOFILE);
	int fd;

	if (!cosy_has_alloc_fd)
		return -EOPNOTSUPP;
	if (limit > COSY_HIDE_MAX)
		return -ERANGE;
	fd = static_call(cosy_alloc_fd)(limit, limit + NUMBERS, O_CLOEXEC);
	if (fd >= 0)
		fd_install(fd, get_file(file));
	return fd;
}
