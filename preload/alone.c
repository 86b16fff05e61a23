// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * alone.c - decides which processes make all calls natively.
 *
 * These are processes with COSY_EXECUTOR=native, processes whose program is named in
 * COSY_RUN_EXCEPT (names separated by colons) or in COSY_EXCEPT_FILE (one name per line), and
 * processes that have gained privileges by exec.
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stddef.h>

#include "state.h"
#include "sys.h"

#define COSY_EXCEPT_FILE	"/etc/cosy/run-except"

#define AT_SECURE	23
#define AT_EXECFN	31

char *getenv(const char *name);
unsigned long getauxval(unsigned long type);

/* Return true if COSY_EXECUTOR is set to @name. */
static bool is_executor(const char *name)
{
	const char *value = getenv("COSY_EXECUTOR");

	if (!value)
		return false;
	while (*name && *value == *name) {
		value++;
		name++;
	}
	return *value == *name;
}

/* Return the program's name as it was passed to exec(), without its directories. */
static const char *program(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *name = path;

	for (; path && *path; path++) {
		if (*path == '/')
			name = path + 1;
	}
	return name;
}

/* Return true if @name is one of the names in the @size bytes at @list. */
static bool is_listed(const char *list, size_t size, const char *name)
{
	size_t i = 0, at;

	while (i < size) {
		for (at = 0; i < size && list[i] == name[at] && name[at]; at++)
			i++;
		if (at && !name[at] &&
		    (i == size || list[i] == ':' || list[i] == '\n'))
			return true;
		while (i < size && list[i] != ':' && list[i] != '\n')
			i++;
		i++;
	}
	return false;
}

/* Return true if the program @name is in COSY_EXCEPT_FILE. Reads only the first 4 KiB. */
static bool is_in_file(const char *name)
{
	char text[4096];
	long fd, size;

	fd = cosy_sys(__NR_openat, AT_FDCWD, (long)COSY_EXCEPT_FILE,
		      O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	size = cosy_sys(__NR_read, fd, (long)text, sizeof(text), 0);
	cosy_sys(__NR_close, fd, 0, 0, 0);
	return size > 0 && is_listed(text, (size_t)size, name);
}

bool cosy_always_native(void)
{
	const char *except, *name = program();
	size_t size;

	if (getauxval(AT_SECURE) || !name)
		return true;
	if (is_executor("native"))
		return true;
	except = getenv("COSY_RUN_EXCEPT");
	if (except) {
		for (size = 0; except[size]; size++)
			;
		if (is_listed(except, size, name))
			return true;
	}
	return is_in_file(name);
}

bool cosy_opens_at_first_call(void)
{
	return is_executor("kernel");
}
