// SPDX-License-Identifier: GPL-2.0
/*
 * descriptor.c - makes a descriptor at a number that the process cannot use.
 *
 * open() returns the lowest free number, and fails if all numbers below the limit are used.
 * A library's descriptor changes neither if its number is above the limit, because no
 * call returns such a number. A process can use the number only after it raised the limit for
 * all its threads.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>

#include <linux/cosy.h>

#include "kernel/descriptor.h"
#include "kernel/internals.h"

/* The first number that is not used, relative to the limit. Each library has at most one. */
#define END	64

/**
 * cosy_descriptor_hide() - make another descriptor of a file, above the limit
 * @file: an open file of the device
 *
 * The number depends on the soft limit, which a process may raise up to the hard limit.
 *
 * Return: the descriptor, or the error that the interface documents.
 */
long cosy_descriptor_hide(struct file *file)
{
	unsigned long limit = rlimit(RLIMIT_NOFILE);
	int fd;

	if (!cosy_has(COSY_NEEDS(alloc_fd)))
		return -EOPNOTSUPP;
	if (limit > COSY_HIDE_MAX)
		return -ERANGE;
	fd = cosy_internal(alloc_fd)(limit + COSY_HIDE_FIRST, limit + END, O_CLOEXEC);
	if (fd >= 0)
		fd_install(fd, get_file(file));
	return fd;
}
