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

#include <linux/cosy.h>

#include "kernel/descriptor.h"
#include "kernel/internals.h"

/* So many libraries in a process may each keep one. */
#define NUMBERS	64

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

	if (!cosy_has(COSY_NEEDS(alloc_fd)))
		return -EOPNOTSUPP;
	if (limit > COSY_HIDE_MAX)
		return -ERANGE;
	fd = cosy_internal(alloc_fd)(limit, limit + NUMBERS, O_CLOEXEC);
	if (fd >= 0)
		fd_install(fd, get_file(file));
	return fd;
}
