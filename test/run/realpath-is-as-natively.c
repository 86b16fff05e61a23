// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * realpath() and its variants have the same results as natively, for names of every kind, and the
 * same errno.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %vm %t >%t.native
// RUN: %vm %build/bin/cosy run %t module >%t.module
// RUN: cmp %t.native %t.module
// RUN: FileCheck %s <%t.native
// CHECK: user 0: realpath(/dir/file) = /dir/file, errno 22
// CHECK: user 0: realpath(/dir/link) = /dir/file, errno 22
// CHECK: user 65534: realpath(/closed/file) = (null), errno 13

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mount.h>

#include "Inputs/device.h"

char *__realpath_chk(const char *, char *, size_t);

static char top[] = "/tmp/realpath-XXXXXX", buffer[4096];

static void show(const char *function, const char *name, const char *result, int error)
{
	printf("user %d: %s(%.300s) = %.300s, errno %d\n", setfsuid(-1), function, name,
	       result ?: "(null)", error);
}

static void resolve(const char *name)
{
	char *result;

	errno = 77;
	result = realpath(name, buffer);
	show("realpath", name, result, errno);
	CHECK(!result || result == buffer);
	errno = 77;
	result = realpath(name, NULL);
	show("realpath, NULL", name, result, errno);
	CHECK(!result || malloc_usable_size(result) > strlen(result));
	free(result);
	errno = 77;
	result = canonicalize_file_name(name);
	show("canonicalize_file_name", name, result, errno);
	free(result);
	errno = 77;
	result = __realpath_chk(name, buffer, sizeof(buffer));
	show("__realpath_chk", name, result, errno);
}

static void touch(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	CHECK(fd >= 0);
	EQUAL(close(fd), 0);
}

static void resolve_all(void)
{
	static const char *const names[] = {
		"", "/", "/.", "/..", "//", "/dir", "/dir/", "/dir/file", "/dir/file/", "/dir//file",
		"//dir/file", "/dir/./file", "/dir/../dir/file", "/dir/.", "/dir/..", "/dir/...",
		"/dir/.hidden", "/dir/..hidden", "/dir/hidden.", "/dir/hidden..", "/dir/link",
		"/dirlink/file", "/dirlink", "/dangling", "/loop", "/missing", "/missing/file",
		"/dir/file/x", "/closed", "/closed/file", "/mnt", "/mnt/file", "/a/b/c/d/e/f/g/h/i/j",
		"/a/b/c/d/e/f/g/h/i/j/k",
	};
	char name[5000];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		resolve(names[i]);
		resolve(names[i] + (names[i][0] == '/'));
	}
	/* Lengths near the module's limit, and of other files. */
	for (size_t length = 240; length < 270; length++) {
		memset(name, 'n', length);
		name[0] = '/';
		name[length] = '\0';
		name[200] = '/';
		resolve(name);
	}
	memset(name, '/', sizeof(name));
	name[4096] = '\0';
	resolve(name);
	resolve("/proc/self/exe");
	resolve("/proc/version");
	errno = 77;
	CHECK(!realpath(NULL, buffer));
	EQUAL(errno, EINVAL);
}

static void make_tree(void)
{
	char path[400];

	/* A new root, because the module does not look up names on the VM's root file system. */
	CHECK(mkdtemp(top));
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	EQUAL(mount("realpath", top, "tmpfs", 0, NULL), 0);
	EQUAL(chdir(top), 0);
	EQUAL(chmod(".", 0755), 0);
	EQUAL(chroot("."), 0);
	EQUAL(mkdir("proc", 0755), 0);
	EQUAL(mount("proc", "proc", "proc", 0, NULL), 0);
	EQUAL(mkdir("dir", 0755), 0);
	EQUAL(mkdir("closed", 0700), 0);
	EQUAL(mkdir("mnt", 0755), 0);
	touch("dir/file");
	touch("dir/...");
	touch("dir/.hidden");
	touch("dir/..hidden");
	touch("dir/hidden.");
	touch("dir/hidden..");
	touch("closed/file");
	EQUAL(symlink("file", "dir/link"), 0);
	EQUAL(symlink("dir", "dirlink"), 0);
	EQUAL(symlink("nothing", "dangling"), 0);
	EQUAL(symlink("loop", "loop"), 0);
	EQUAL(mount("realpath", "mnt", "tmpfs", 0, NULL), 0);
	touch("mnt/file");
	strcpy(path, "a");
	for (char c = 'a'; c <= 'k'; c++) {
		if (c > 'a')
			sprintf(path + strlen(path), "/%c", c);
		EQUAL(mkdir(path, 0755), 0);
	}
	for (size_t length = 240; length < 270; length++) {
		memset(path, 'n', length);
		path[0] = '/';
		path[length] = '\0';
		path[200] = '\0';
		mkdir(path, 0755);
		path[200] = '/';
		touch(path);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 100; i++)
		CHECK(realpath("/usr/bin", buffer));
	EQUAL(has_device(), (argc > 1));
	make_tree();
	resolve_all();
	setfsuid(65534);
	resolve_all();
	setfsuid(0);
	return 0;
}
