/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * scratch.h - an empty directory for a test of batch functions, and its files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../Inputs/check.h"

/* Enter an empty directory, which is removed by leave_scratch(). */
static inline void enter_scratch(char name[static 32])
{
	strcpy(name, "/tmp/cosy-batch-XXXXXX");
	CHECK(mkdtemp(name));
	EQUAL(chdir(name), 0);
	EQUAL(chmod(name, 0755), 0);
	umask(022);
}

static inline void leave_scratch(const char *name)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", name);
	EQUAL(chdir("/"), 0);
	EQUAL(system(command), 0);
}

static inline void make_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	EQUAL(write(fd, bytes, size), size);
	EQUAL(close(fd), 0);
}

static inline void make_text(const char *name, const char *text)
{
	make_file(name, text, strlen(text));
}

/* printf() to memory that is not freed. */
__attribute__((format(printf, 1, 2))) static inline char *format(const char *text, ...)
{
	char *result;
	va_list arguments;

	va_start(arguments, text);
	CHECK(vasprintf(&result, text, arguments) >= 0);
	va_end(arguments);
	return result;
}

/* The number of open descriptors, except those of libcosy. */
static inline int open_descriptors(void)
{
	char link[32], target[32];
	int count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		count += strcmp(target, "/dev/cosy") != 0;
	}
	return count;
}

static inline const char *name_of_error(long result)
{
	return result < 0 ? strerrorname_np((int)-result) : "ok";
}
