// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * exec.c - executes programs without this library that are short, or would not find it.
 *
 * A process that maps the library takes about 150,000 instructions more, and gets them back
 * with some 100 calls through the module. The programs that are listed here make fewer calls, if
 * they have few names of files as arguments, and are not told to descend into directories. So
 * LD_PRELOAD is left out of their environment, unless it names other libraries, too. The programs
 * that they execute are native then, so shells and other programs that mostly execute others are
 * not in the list.
 *
 * In a container, or after chroot(), the dynamic linker may not find the library. Then it would
 * print a message.
 *
 * Natively, exec fails with EFAULT if a string cannot be read. So each page is probed before it
 * is read here.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <stddef.h>
#include <unistd.h>

#include "device/sys.h"
#include "next.h"
#include "watched.h"

#define EXPORTED __attribute__((visibility("default")))

#define PAGE		4096ul

/* With more arguments that are not options, the library may pay. */
#define MAX_FILES	32
#define MAX_ARGUMENTS	256
/* The copy of a larger environment would need too much of the stack. */
#define MAX_ENVIRONMENT	96

/* In a list, each name is followed by a null byte, the last one by two. */
static const char short_programs[] =
	"[\0as\0awk\0basename\0c++\0cat\0cc\0cc1\0cc1plus\0cksum\0cmp\0collect2\0comm\0cpp\0"
	"cut\0date\0dirname\0echo\0expand\0expr\0false\0fold\0g++\0gawk\0gcc\0getopt\0head\0"
	"hostname\0id\0install\0join\0ld\0ld.bfd\0ln\0lto1\0mawk\0md5sum\0mkdir\0mktemp\0mv\0"
	"nl\0nproc\0od\0paste\0printf\0pwd\0readlink\0realpath\0rev\0rmdir\0sed\0seq\0sha1sum\0"
	"sha256sum\0sleep\0sort\0stty\0tac\0tail\0tee\0test\0touch\0tput\0tr\0true\0tty\0"
	"uname\0uniq\0wc\0which\0whoami\0yes\0";
/* Programs that descend into directories with -r, -R, -a or a long option. */
static const char short_unless_descending[] =
	"chgrp\0chmod\0chown\0cp\0egrep\0fgrep\0grep\0rm\0";

typedef int execve_function(const char *path, char *const argv[], char *const envp[]);
typedef int execv_function(const char *path, char *const argv[]);
typedef int spawn_function(int *pid, const char *path, const void *actions, const void *attributes,
			   char *const argv[], char *const envp[]);

/**
 * struct reader - reads memory of the program that may not be readable
 * @strings:  address of the page from which a character was read last
 * @pointers: address of the page from which a pointer was read last
 * @failed:   something could not be read
 */
struct reader {
	unsigned long strings;
	unsigned long pointers;
	bool failed;
};

/* Return true if the page of @address can be read. @last is the one that was read last. */
static bool can_read(struct reader *reader, unsigned long *last, const void *address)
{
	unsigned long page = (unsigned long)address & -PAGE;

	if (page != *last) {
		/*
		 * The kernel reads the new limit, unless its address is NULL, before it rejects
		 * the resource. A seccomp filter below which programs are executed allows this
		 * call: the dynamic linker makes it.
		 */
		if (!page || cosy_sys6(__NR_prlimit64, 0, ~0u, (long)page, 0, 0, 0) != -EINVAL)
			reader->failed = true;
		*last = page;
	}
	return !reader->failed;
}

static char read_char(struct reader *reader, const char *at)
{
	return can_read(reader, &reader->strings, at) ? *at : '\0';
}

static char *read_pointer(struct reader *reader, char *const *at)
{
	/* It may be in two pages. */
	if ((unsigned long)at % sizeof(*at))
		reader->failed = true;
	return can_read(reader, &reader->pointers, at) ? *at : NULL;
}

/* Return the end of @prefix in @string; NULL if @string does not begin with it. */
static const char *after(struct reader *reader, const char *string, const char *prefix)
{
	while (*prefix) {
		if (read_char(reader, string++) != *prefix++)
			return NULL;
	}
	return string;
}

/* Return the last component of @path. */
static const char *last_component(struct reader *reader, const char *path)
{
	const char *last = path;
	char c;

	while ((c = read_char(reader, path++))) {
		if (c == '/')
			last = path;
	}
	return last;
}

static bool is_string(struct reader *reader, const char *string, const char *expected)
{
	const char *end = after(reader, string, expected);

	return end && !read_char(reader, end);
}

static bool is_listed(struct reader *reader, const char *name, const char *list)
{
	while (*list) {
		if (is_string(reader, name, list))
			return true;
		while (*list++)
			;
	}
	return false;
}

/* Return true if the program descends into directories with @option. */
static bool descends(struct reader *reader, const char *option)
{
	char c;

	while ((c = read_char(reader, option++))) {
		if (c == 'r' || c == 'R' || c == 'a' || c == '-')
			return true;
	}
	return false;
}

static bool is_short_program(struct reader *reader, const char *path, char *const *argv)
{
	const char *name = last_component(reader, path), *argument;
	bool may_descend = is_listed(reader, name, short_unless_descending);
	int files = 0;

	if (!may_descend && !is_listed(reader, name, short_programs))
		return false;
	for (int i = 0; i <= MAX_ARGUMENTS; i++) {
		argument = read_pointer(reader, &argv[i]);
		if (!argument)
			return true;
		if (read_char(reader, argument) != '-')
			files++;
		else if (may_descend && descends(reader, argument + 1))
			return false;
		if (files > MAX_FILES)
			return false;
	}
	return false;
}

/*
 * Return true if the program would not find the library. A seccomp filter below which programs are
 * executed allows access(): the dynamic linker calls it.
 */
static bool is_missing(void)
{
	const char *path = cosy_own_path();

	return path && cosy_sys(__NR_access, (long)path, R_OK, 0) < 0;
}

/* Return true if @value of LD_PRELOAD names this library, and no other one. */
static bool is_only_this(struct reader *reader, const char *value)
{
	const char *name = last_component(reader, value);

	for (; value != name; value++) {
		if (*value == ':' || *value == ' ')
			return false;
	}
	return is_string(reader, name, "libcosy-preload.so");
}

/*
 * Copy the pointers of an environment to @copy, without LD_PRELOAD. Return false if there is
 * nothing to leave out, or if that is not possible.
 */
static bool copy_environment(struct reader *reader, char *const *envp, char **copy)
{
	const char *value;
	bool found = false;
	char *variable;

	for (int i = 0; i <= MAX_ENVIRONMENT; i++) {
		variable = read_pointer(reader, &envp[i]);
		if (variable) {
			value = after(reader, variable, "LD_PRELOAD=");
			if (value && (found || !is_only_this(reader, value)))
				return false;
			if (value)
				found = true;
			else
				*copy++ = variable;
		} else {
			*copy = NULL;
			return found;
		}
	}
	return false;
}

/*
 * Return the environment with which to execute a program: @envp, or @copy, which has space for
 * MAX_ENVIRONMENT + 1 pointers. With COSY_EXECUTOR=kernel, short programs use the module, too.
 */
static char *const *environment(const char *path, char *const *argv, char *const *envp,
				char **copy)
{
	struct reader reader = { .strings = 1, .pointers = 1 };

	if (((!cosy_opens_at_first_call() && is_short_program(&reader, path, argv)) ||
	     is_missing()) &&
	    copy_environment(&reader, envp, copy) && !reader.failed)
		return copy;
	return envp;
}

EXPORTED int execve(const char *path, char *const argv[], char *const envp[])
{
	char *copy[MAX_ENVIRONMENT + 1];
	execve_function *next = cosy_next_named("execve");

	return next(path, argv, environment(path, argv, envp, copy));
}

EXPORTED int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char *copy[MAX_ENVIRONMENT + 1];
	execve_function *next = cosy_next_named("execvpe");

	return next(file, argv, environment(file, argv, envp, copy));
}

/*
 * Execute a program with the environment of the process: by @with if LD_PRELOAD has to be left
 * out, else by @function. A library that interposes one of them must see the same calls as
 * natively.
 */
static int execute(const char *function, const char *with, const char *path, char *const *argv)
{
	char *copy[MAX_ENVIRONMENT + 1];
	execv_function *libc = cosy_preload_next(function), *next;
	execve_function *libc_with = cosy_preload_next(with);
	char *const *envp;

	if (!libc || !libc_with) {
		next = cosy_next_named(function);
		return next(path, argv);
	}
	envp = environment(path, argv, __environ, copy);
	return envp == __environ ? libc(path, argv) : libc_with(path, argv, envp);
}

EXPORTED int execv(const char *path, char *const argv[])
{
	return execute("execv", "execve", path, argv);
}

EXPORTED int execvp(const char *file, char *const argv[])
{
	return execute("execvp", "execvpe", file, argv);
}

EXPORTED int posix_spawn(int *pid, const char *path, const void *actions, const void *attributes,
			 char *const argv[], char *const envp[])
{
	char *copy[MAX_ENVIRONMENT + 1];
	spawn_function *next = cosy_before(COSY_FN_posix_spawn, 0, 0);

	return next(pid, path, actions, attributes, argv, environment(path, argv, envp, copy));
}

EXPORTED int posix_spawnp(int *pid, const char *file, const void *actions, const void *attributes,
			  char *const argv[], char *const envp[])
{
	char *copy[MAX_ENVIRONMENT + 1];
	spawn_function *next = cosy_before(COSY_FN_posix_spawnp, 0, 0);

	return next(pid, file, actions, attributes, argv, environment(file, argv, envp, copy));
}
