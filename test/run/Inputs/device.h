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

#include "../../Inputs/check.h"
#include "../../Inputs/descriptors.h"
#include "../../Inputs/raw-syscall.h"

/* The module gives the device this number or a later one, relative to the limit (COSY_HIDE_FIRST). */
#define HIDDEN	32

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
