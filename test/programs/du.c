// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// du - the sizes of the files of a tree, by directory
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: rm -rf %t.tree && mkdir -p %t.tree/a/b %t.tree/c
// RUN: for i in 1 2 3 4 5 6 7 8 9; do head -c $((i * 1000)) /dev/zero >%t.tree/a/b/$i; done
// RUN: head -c 50000 /dev/zero >%t.tree/c/large && ln %t.tree/c/large %t.tree/c/again
// RUN: cd %t.tree && %run-all %t . | sort | FileCheck %s
// CHECK: 44	./a
// CHECK-NEXT: 44	./a/b
// CHECK-NEXT: 49	./c
// CHECK-NEXT: 93	.
// RUN: %run-all --no-stats --status 1 %t missing
#include <cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	dev_t dev;
	ino_t ino;
} seen[1000];
static int nseen;

static int seen_before(const struct stat *st)
{
	for (int i = 0; i < nseen; i++)
		if (seen[i].dev == st->st_dev && seen[i].ino == st->st_ino)
			return 1;
	if (nseen < 1000) {
		seen[nseen].dev = st->st_dev;
		seen[nseen++].ino = st->st_ino;
	}
	return 0;
}

static long du(int parent, const char *name, const char *path)
{
	char entries[4096], below[4096];
	struct stat st;
	long total = 0, n, at;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	COSY_START;
	while ((n = getdents64(fd, entries, sizeof(entries))) > 0) {
		for (at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(entries + at);

			at += d->d_reclen;
			if (d->d_name[0] == '.' &&
			    (!d->d_name[1] || (d->d_name[1] == '.' && !d->d_name[2])))
				continue;
			if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			if (S_ISDIR(st.st_mode)) {
				snprintf(below, sizeof(below), "%s/%s", path, d->d_name);
				total += du(fd, d->d_name, below);
			} else if (st.st_nlink == 1 || !seen_before(&st)) {
				total += st.st_size;
			}
		}
	}
	COSY_END;
	close(fd);
	printf("%ld\t%s\n", (total + 1023) / 1024, path);
	return total;
}

int main(int argc, char *argv[])
{
	const char *path = argc > 1 ? argv[1] : ".";

	if (du(AT_FDCWD, path, path) < 0) {
		perror(path);
		return 1;
	}
	return 0;
}
