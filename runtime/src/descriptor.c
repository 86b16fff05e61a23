/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.c - descriptors of libcosy's, at numbers where a program does not
 * meet them.
 *
 * open() returns the lowest free number, and programs count on that: the first
 * is 3. So ours have high numbers. The kernel's table of descriptors is as long
 * as the highest of them needs, and a fork copies it; but up to 64 descriptors
 * it is part of another structure, which is copied in any case. So the best
 * number is the highest free one below 64. A program with more descriptors than
 * that has a longer table: then it is the highest free one below the next power
 * of two.
 *
 * A program misses one number, and one descriptor before EMFILE, only when it
 * has nearly all the others. The limit itself (RLIMIT_NOFILE) is the program's
 * and stays as it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "descriptor.h"
#include "sys.h"

/* Descriptors in a table that costs nothing more. */
#define SMALL_TABLE	64
/* More than any kernel allows without being told to. */
#define LARGEST_TABLE	(1 << 20)

/* Duplicate @fd to @number; -EBUSY if that is not free. */
static int duplicate(int fd, int number)
{
	int copy;

	if (cosy_sys(SYS_fcntl, number, F_GETFD, 0) >= 0)
		return -EBUSY;
	copy = (int)cosy_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number);
	if (copy < 0 || copy == number)
		return copy;
	/* Another thread was faster. */
	cosy_sys(SYS_close, copy, 0, 0);
	return -EBUSY;
}

/* Duplicate @fd to the highest free number from @first to @end - 1. */
static int duplicate_between(int fd, int first, int end)
{
	for (int number = end - 1; number >= first; number--) {
		int copy = duplicate(fd, number);

		if (copy != -EBUSY)
			return copy;
	}
	return -EMFILE;
}

/* Descriptors that this process may have. */
static int limit(void)
{
	struct rlimit nofile;

	if (cosy_sys6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&nofile, 0, 0) <
	    0)
		return SMALL_TABLE;
	return nofile.rlim_cur < LARGEST_TABLE ? (int)nofile.rlim_cur :
						 LARGEST_TABLE;
}

int cosy_descriptor_copy(int fd)
{
	int copy = duplicate(fd, SMALL_TABLE - 1);
	int first = 3, last;

	/* Nearly always that succeeds, and nobody has to ask for the limit. */
	if (copy >= 0)
		return copy;
	last = limit();
	for (int end = SMALL_TABLE;; end *= 2) {
		if (end > last)
			end = last;
		copy = duplicate_between(fd, first, end);
		if (copy >= 0 || end == last)
			return copy;
		first = end;
	}
}

int cosy_descriptor_hide(int fd)
{
	int copy;

	if (fd < 0)
		return fd;
	copy = cosy_descriptor_copy(fd);
	if (copy < 0)
		return fd;
	cosy_sys(SYS_close, fd, 0, 0);
	return copy;
}
