// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * walk DIRECTORY - count the files below a directory and their blocks, like du
 *
 * The loop over a directory's entries is a loop for COSY_BATCH; docs/porting.md has the
 * figures.
 */
#define _GNU_SOURCE
#include <cosy.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SUBDIRECTORIES 1024

static long files, blocks;

/* Count the files in directory @name of directory @at. */
static void walk(int at, const char *name)
{
	char *below[MAX_SUBDIRECTORIES];
	int n = 0, fd = openat(at, name, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *next;

	if (!dir)
		err(1, "%s", name);
	while ((next = readdir(dir))) {
		char entry[sizeof(next->d_name)];
		struct stat st;

		COSY_BATCH(64);
		if (!strcmp(next->d_name, ".") || !strcmp(next->d_name, ".."))
			continue;
		memccpy(entry, next->d_name, 0, sizeof(entry));
		COSY_START;
		if (fstatat(fd, entry, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		COSY_END;
		files++;
		blocks += st.st_blocks;
		if (S_ISDIR(st.st_mode) && n < MAX_SUBDIRECTORIES)
			below[n++] = strdup(entry);
	}
	while (n--) {
		walk(fd, below[n]);
		free(below[n]);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: walk DIRECTORY");
	walk(AT_FDCWD, argv[1]);
	printf("%ld files, %ld blocks\n", files, blocks);
	return 0;
}
