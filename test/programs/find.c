// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// find -name - the files of a tree whose name matches a pattern
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: rm -rf %t.tree && mkdir -p %t.tree/x.c/y %t.tree/z && cd %t.tree
// RUN: touch a.c b.h x.c/c.c x.c/y/d.c x.c/y/e.o z/f.cc z/.hidden.c
// RUN: %run-all %t . '*.c' | sort >%t.out && find . -name '*.c' | sort | diff - %t.out
// RUN: %run-all --no-stats --status 1 %t missing '*' 2>&1 | FileCheck %s
// CHECK: find: missing: No such file or directory
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int status;

static void find(const char *path, const char *pattern)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir) {
		fprintf(stderr, "find: %s: %s\n", path, strerror(errno));
		status = 1;
		return;
	}
	COSY_START;
	while ((entry = readdir(dir)) != NULL) {
		struct stat st;
		char *name;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = malloc(strlen(path) + strlen(entry->d_name) + 2);
		if (!name)
			abort();
		sprintf(name, "%s/%s", path, entry->d_name);
		if (fnmatch(pattern, entry->d_name, 0) == 0)
			puts(name);
		if (lstat(name, &st) == 0 && S_ISDIR(st.st_mode))
			find(name, pattern);
		free(name);
	}
	COSY_END;
	closedir(dir);
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	find(argv[1], argv[2]);
	return status;
}
