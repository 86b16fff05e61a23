/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h - for tests of libcosy-preload.so: find out whether the module is used
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw-syscall.h"
#include "../../Inputs/check.h"

/* The module gives the device this number or a later one, relative to the limit (COSY_HIDE_FIRST). */
#define HIDDEN	32

/* Return true if descriptor @fd is /dev/cosy. Uses calls that are not interposed. */
static inline bool is_device(int fd)
{
	char name[64], path[64] = "";
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = raw_syscall(SYS_readlink, name, path, sizeof(path));
	return n == 9 && !memcmp(path, "/dev/cosy", 9);
}

/* Return the number of a descriptor of the device, -1 if there is none. */
static inline int device(void)
{
	for (int fd = 0; fd < 5000; fd++)
		if (is_device(fd))
			return fd;
	return -1;
}

/*
 * Return true if the device is open at the numbers in cosy(1). Checking all numbers takes long,
 * especially in a traced process.
 */
static inline bool has_device(void)
{
	struct rlimit limit;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int fd = limit.rlim_cur + HIDDEN; fd < (int)limit.rlim_cur + 64; fd++)
		if (is_device(fd))
			return true;
	return false;
}

/* Make calls until the device must have been opened. */
static inline void warm_up(void)
{
	struct stat st;

	for (int i = 0; i < 200; i++)
		EQUAL(stat("/", &st), 0);
}

#endif /* DEVICE_H */
