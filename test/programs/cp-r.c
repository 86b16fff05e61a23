// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp -r - copy a tree
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: rm -rf %t.from && mkdir -p %t.from/sub/deeper %t.from/empty
// RUN: head -c 200000 %S/../../compound-ir/syscalls.def >%t.from/large
// RUN: echo small >%t.from/sub/small && chmod 750 %t.from/sub/small && : >%t.from/sub/deeper/none
// RUN: ln -sf ../large %t.from/sub/link
// RUN: %run-all --before 'rm -rf %t.to' --file %t.to/large --file %t.to/sub/small \
// RUN:   --file %t.to/sub/deeper/none %t %t.from %t.to | FileCheck %s
// RUN: diff -r --no-dereference %t.from %t.to && test -x %t.to/sub/small -a -L %t.to/sub/link
// CHECK: 3 files, 4 directories, 1 link
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int files, directories, links;

static void die(const char *what)
{
	fprintf(stderr, "cp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void copy_file(int from, int to, const char *name, mode_t mode)
{
	char buf[32768];
	ssize_t n, done, at;
	int in, out;

	in = openat(from, name, O_RDONLY | O_CLOEXEC);
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	if (in < 0 || out < 0)
		die(name);
	COSY_START;
	for (;;) {
		n = read(in, buf, sizeof(buf));
		if (n <= 0)
			break;
		for (at = 0; at < n; at += done) {
			done = write(out, buf + at, n - at);
			if (done <= 0)
				die(name);
		}
	}
	COSY_END;
	if (n < 0 || close(out))
		die(name);
	close(in);
	files++;
}

static void copy_tree(int from, int to)
{
	struct dirent *entry;
	char target[4096];
	struct stat st;
	ssize_t n;
	DIR *dir = fdopendir(from);

	if (!dir)
		die("fdopendir");
	directories++;
	COSY_START;
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
			die(name);
		if (S_ISDIR(st.st_mode)) {
			if (mkdirat(to, name, st.st_mode & 0777))
				die(name);
			copy_tree(openat(from, name, O_RDONLY | O_DIRECTORY),
				  openat(to, name, O_RDONLY | O_DIRECTORY));
		} else if (S_ISLNK(st.st_mode)) {
			n = readlinkat(from, name, target, sizeof(target) - 1);
			if (n < 0)
				die(name);
			target[n] = 0;
			if (symlinkat(target, to, name))
				die(name);
			links++;
		} else {
			copy_file(from, to, name, st.st_mode);
		}
	}
	COSY_END;
	closedir(dir);
	close(to);
}

int main(int argc, char *argv[])
{
	int from, to;

	if (argc != 3)
		return 2;
	umask(0);
	from = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (from < 0)
		die(argv[1]);
	if (mkdir(argv[2], 0777) || (to = open(argv[2], O_RDONLY | O_DIRECTORY)) < 0)
		die(argv[2]);
	copy_tree(from, to);
	printf("%u files, %u directories, %u link\n", files, directories, links);
	return 0;
}
