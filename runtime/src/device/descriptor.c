/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.c - chooses numbers for libcosy's descriptors that programs do not notice; lists those that are open.
 *
 * open() returns the lowest free number, and programs rely on that: the first is 3. So
 * libcosy's descriptors have high numbers. The kernel's table of descriptors is as long as
 * the highest number needs, and a fork copies it. Up to 64 descriptors it is part of
 * another structure, which is copied in any case. So the best number is the highest free
 * one below 64. A program with more descriptors has a longer table. Then the best number is
 * the highest free one below the next power of two.
 *
 * A program notices the missing number, or gets EMFILE one descriptor earlier, only if it
 * uses nearly all other numbers. libcosy does not change RLIMIT_NOFILE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "device/descriptor.h"
#include "device/sys.h"

/* The length of a table that costs a fork nothing. */
#define SMALL_TABLE	64
/* Larger than any kernel's default limit. */
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

/* Return the maximum number of descriptors of this process. */
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

	/* This nearly always succeeds, without a system call for the limit. */
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

/* The mark is the signal that the file would send with O_ASYNC. Nearly all files have number 0. */
int cosy_descriptor_mark(int fd, int mark)
{
	return (int)cosy_sys(SYS_fcntl, fd, F_SETSIG, mark);
}

bool cosy_descriptor_is_marked(int fd, int mark)
{
	long found = cosy_sys(SYS_fcntl, fd, F_GETSIG, 0);

	return found == mark || (found < 0 && found != -EBADF);
}

/* Return the number that an entry of a directory has for a name, or -1. */
static int number_of(const char *entry)
{
	/* struct linux_dirent64: the name comes after two 64-bit numbers, the length and the type. */
	const char *digit = entry + 8 + 8 + 2 + 1;
	int number = 0;

	if (*digit == '.')
		return -1;
	for (; *digit; digit++)
		number = number * 10 + *digit - '0';
	return number;
}

int cosy_descriptors_each(bool (*use)(int fd, void *arg), void *arg)
{
	char entries[4096] __attribute__((aligned(8)));
	const int dir = (int)cosy_sys6(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/fd",
				       O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	bool stops = false;
	long size = dir;

	while (!stops && size >= 0 &&
	       (size = cosy_sys(SYS_getdents64, dir, (long)entries, sizeof(entries))) > 0) {
		for (long at = 0; at < size && !stops;) {
			const int fd = number_of(entries + at);
			uint16_t length;

			memcpy(&length, entries + at + 16, sizeof(length));
			at += length;
			stops = fd >= 0 && fd != dir && use(fd, arg);
		}
	}
	if (dir >= 0)
		cosy_sys(SYS_close, dir, 0, 0);
	return stops ? 1 : (int)size;
}

void cosy_descriptor_close(int fd, int mark)
{
	if (fd >= 0 && cosy_descriptor_is_marked(fd, mark))
		cosy_sys(SYS_close, fd, 0, 0);
}
