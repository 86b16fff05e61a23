/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * size.c - how many workers a team has by default: as many as can run at the same time.
 *
 * More workers would use up the CPU time of the cgroup early in each period. Then all of them would wait
 * for the next period, also those that hold locks.
 */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/sys.h"
#include "team/team.h"

#define CGROUPS	"/sys/fs/cgroup"

/* Read the beginning of a file as a string. Return false if that is not possible. */
static bool read_file(const char *name, char *text, size_t size)
{
	const long fd = cosy_sys6(SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long n;

	if (fd < 0)
		return false;
	n = cosy_sys(SYS_read, fd, (long)text, (long)size - 1);
	cosy_sys(SYS_close, fd, 0, 0);
	if (n < 0)
		return false;
	text[n] = '\0';
	return true;
}

/* Return how many CPUs the time of a cgroup is enough for, rounded up; UINT32_MAX: for all. */
static uint32_t limit_of(const char *cgroup)
{
	char name[sizeof(CGROUPS) + PATH_MAX + 16], text[64], *end;
	unsigned long long quota, period, cpus;

	snprintf(name, sizeof(name), CGROUPS "%s/cpu.max", cgroup);
	/* The root has no such file. "max": there is no limit. */
	if (!read_file(name, text, sizeof(text)))
		return UINT32_MAX;
	quota = strtoull(text, &end, 10);
	if (end == text)
		return UINT32_MAX;
	period = strtoull(end, NULL, 10);
	if (!quota || !period)
		return UINT32_MAX;
	cpus = quota / period + !!(quota % period);
	return cpus < UINT32_MAX ? (uint32_t)cpus : UINT32_MAX;
}

/* Return the least limit of the cgroup of this process, and of those that contain it. */
static uint32_t limit_of_cgroups(void)
{
	char text[PATH_MAX + 256], *path, *end;
	uint32_t least = UINT32_MAX, limit;

	if (!read_file("/proc/self/cgroup", text, sizeof(text)))
		return least;
	/* Version 2 has the hierarchy 0, in the last line. */
	path = strstr(text, "0::/");
	if (!path || (path != text && path[-1] != '\n'))
		return least;
	path += strlen("0::");
	path[strcspn(path, "\n")] = '\0';
	for (;;) {
		limit = limit_of(path);
		if (limit < least)
			least = limit;
		end = strrchr(path, '/');
		if (!end)
			return least;
		*end = '\0';
	}
}

uint32_t team_default_size(uint32_t allowed)
{
	const uint32_t limit = limit_of_cgroups();

	if (!allowed)
		allowed = 1;
	return limit < allowed ? limit : allowed;
}
