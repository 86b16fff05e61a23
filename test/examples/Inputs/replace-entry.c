// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * replace-entry.c - for LD_PRELOAD: two names are exchanged while a program copies a file. For copytree, this
 * is when strdup() is called for the path of the first regular file; for cp, when fchown() is called for its copy. EXCHANGE
 * is the names, with a colon between them.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void exchange(void)
{
	char names[100], *first, *second = names;

	if (!getenv("EXCHANGE"))
		return;
	snprintf(names, sizeof(names), "%s", getenv("EXCHANGE"));
	unsetenv("EXCHANGE");
	first = strsep(&second, ":");
	if (renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE))
		err(1, "cannot exchange %s and %s", first, second);
}

char *strdup(const char *text)
{
	char *(*real)(const char *text) = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");

	if (!strcmp(text, "tree/d/file"))
		exchange();
	return real(text);
}

int fchown(int fd, uid_t owner, gid_t group)
{
	int (*real)(int fd, uid_t owner, gid_t group) =
		(int (*)(int, uid_t, gid_t))dlsym(RTLD_NEXT, "fchown");

	exchange();
	return real(fd, owner, group);
}
