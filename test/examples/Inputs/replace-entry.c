// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * replace-entry.c - for LD_PRELOAD: two names are exchanged while a program copies a file. For copytree, this
 * is when fts_read() has found the first regular file; for cp, when fchown() is called for its copy. EXCHANGE
 * is the names, with a colon between them.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void exchange(void)
{
	char *first, *second;

	if (!getenv("EXCHANGE"))
		return;
	second = strdup(getenv("EXCHANGE"));
	first = strsep(&second, ":");
	if (renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE))
		err(1, "cannot exchange %s and %s", first, second);
	unsetenv("EXCHANGE");
	free(first);
}

FTSENT *fts_read(FTS *tree)
{
	FTSENT *(*real)(FTS *tree) = (FTSENT * (*)(FTS *)) dlsym(RTLD_NEXT, "fts_read");
	FTSENT *entry = real(tree);

	if (entry && entry->fts_info == FTS_F)
		exchange();
	return entry;
}

int fchown(int fd, uid_t owner, gid_t group)
{
	int (*real)(int fd, uid_t owner, gid_t group) =
		(int (*)(int, uid_t, gid_t))dlsym(RTLD_NEXT, "fchown");

	exchange();
	return real(fd, owner, group);
}
