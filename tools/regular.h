/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * regular.h - opens files that another process may replace by anything.
 */
#ifndef COSY_TOOLS_REGULAR_H
#define COSY_TOOLS_REGULAR_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/**
 * regular_open() - open a regular file for reading
 * @path:   its name
 * @system: the type of its file system, as of statfs(2); 0: any
 *
 * Nothing else is opened: a pipe would block this process, and opening a device can have effects.
 *
 * Return: the descriptor, or -1.
 */
static inline int regular_open(const char *path, long system)
{
	int found = open(path, O_PATH | O_CLOEXEC), file = -1;
	struct stat status;
	struct statfs its;
	char name[32];

	if (found < 0)
		return -1;
	if (!fstat(found, &status) && S_ISREG(status.st_mode) &&
	    (!system || (!fstatfs(found, &its) && its.f_type == system))) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
		file = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	close(found);
	return file;
}

#endif /* COSY_TOOLS_REGULAR_H */
