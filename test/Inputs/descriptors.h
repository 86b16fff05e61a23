/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptors.h - for tests: the descriptors of the process, with those of libcosy.
 */
#ifndef TEST_DESCRIPTORS_H
#define TEST_DESCRIPTORS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw-syscall.h"

/* The limit of descriptors is at most 4096 in tests, and libcosy's are at most 64 above it. */
#define DESCRIPTORS	5000

/* Return true if descriptor @fd is open, and its name in /proc begins with @name. Uses calls that are not interposed. */
static inline bool is_descriptor_of(int fd, const char *name)
{
	const size_t size = strlen(name);
	char link[64], target[256] = "";
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = raw_syscall(SYS_readlink, link, target, sizeof(target));
	return n >= (ssize_t)size && !memcmp(target, name, size);
}

/* Return the number of open descriptors whose names begin with @name; "" for all. */
static inline int count_descriptors(const char *name)
{
	int n = 0;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		n += is_descriptor_of(fd, name);
	return n;
}

/* Return true if descriptor @fd is /dev/cosy. */
static inline bool is_device(int fd)
{
	return is_descriptor_of(fd, "/dev/cosy");
}

/* Return the number of a descriptor of the device, -1 if there is none. */
static inline int device(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (is_device(fd))
			return fd;
	return -1;
}

#endif /* TEST_DESCRIPTORS_H */
