// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * calls DIRECTORY: measure one call of each function, in nanoseconds of CPU time, which under
 * icount are instructions. The costs natively and with libcosy-preload show which functions
 * should be in preload.def. Compiled with the plugin, as region-calls, the calls are in loops of
 * regions, and their costs are compared with the plugin's predictions (bench/predictions.py).
 *
 * Prints a line "NAME NANOSECONDS" for each function. Functions that make a file are measured
 * together with the functions that remove it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifdef __COSY_PLUGIN__
#include <cosy.h>
#else
#define COSY_START
#define COSY_END
#endif

#define RUNS 400
#define ATTRIBUTE "user.mime"
#define ACL "system.posix_acl_access"

static struct stat st;
static struct statx stx;
static const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
static char buffer[4096], absolute[4096];
static int dir, cached;

static void check(int failed, const char *what)
{
	if (failed)
		err(1, "%s", what);
}

#define MEASURED(X) \
	X(stat, stat("a/b/file", &st)) \
	X(stat_here, stat("file", &st)) \
	X(stat_deep, stat("a/b/c/d/e/file", &st)) \
	X(stat_link, stat("link", &st)) \
	X(stat_missing, !stat("missing", &st)) \
	X(stat_missing_3, !stat("a/b/missing", &st)) \
	X(lstat, lstat("link", &st)) \
	X(fstatat, fstatat(dir, "file", &st, AT_SYMLINK_NOFOLLOW)) \
	X(statx, statx(dir, "file", 0, STATX_BASIC_STATS, &stx)) \
	X(open_close, close(open("a/b/file", O_RDONLY))) \
	X(openat_close, close(openat(dir, "file", O_RDONLY | O_CLOEXEC))) \
	X(opendir_close, close(openat(dir, "b", O_RDONLY | O_DIRECTORY))) \
	X(path_close, close(openat(dir, "file", O_PATH | O_CLOEXEC))) \
	X(create_unlink, close(open("new", O_CREAT | O_WRONLY, 0600)) || \
			 unlink("new")) \
	X(access, access("a/b/file", R_OK)) \
	X(faccessat, faccessat(dir, "file", R_OK, 0)) \
	X(readlink, readlink("link", buffer, sizeof(buffer)) < 0) \
	X(readlinkat, readlinkat(AT_FDCWD, "link", buffer, sizeof(buffer)) < 0) \
	X(mkdir_rmdir, mkdir("made", 0700) || rmdir("made")) \
	X(link_unlink, link("file", "other") || unlinkat(AT_FDCWD, "other", 0)) \
	X(symlink_unlink, symlink("file", "other") || unlink("other")) \
	X(rename_twice, rename("file", "moved") || \
			renameat(AT_FDCWD, "moved", AT_FDCWD, "file")) \
	X(chmod, chmod("file", 0644)) \
	X(chown, chown("file", 0, 0)) \
	X(truncate, truncate("file", 1000)) \
	X(utimensat, utimensat(dir, "file", times, 0)) \
	X(getxattr, getxattr("a/b/file", ATTRIBUTE, buffer, 100) != 5) \
	X(getxattr_none, !getxattr("a/b/file", ACL, NULL, 0)) \
	X(lgetxattr, !lgetxattr("file", ATTRIBUTE, buffer, 100)) \
	X(listxattr, listxattr("a/b/file", buffer, 100) != sizeof(ATTRIBUTE)) \
	X(read_1000, pread(cached, buffer, 1000, 0) < 0) \
	X(lseek_read, lseek(cached, 0, SEEK_SET) || read(cached, buffer, 1000) < 0) \
	X(fstat, fstat(cached, &st)) \
	X(write_1000, pwrite(cached, buffer, 1000, 0) < 0) \
	X(lseek_write, lseek(cached, 0, SEEK_SET) || write(cached, buffer, 1000) < 0) \
	X(getpid, getpid() < 0)

/* The same calls with names of other forms, for COSY_PRELOAD_SAVINGS, and several calls natively. */
#define MEASURED_ALONE(X) \
	X(statx_here, statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &stx)) \
	X(statx_path, statx(AT_FDCWD, "a/b/file", 0, STATX_BASIC_STATS, &stx)) \
	X(fstatat_link, fstatat(dir, "link", &st, 0)) \
	X(open_here, close(open("file", O_RDONLY))) \
	X(open_write, close(open("a/b/file", O_WRONLY))) \
	X(open_missing, open("a/b/missing", O_RDONLY) >= 0) \
	X(open_exclusive, open("a/b/file", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) \
	X(access_here, access("file", R_OK)) \
	X(access_missing, !access("a/b/missing", R_OK)) \
	X(faccessat_here, faccessat(AT_FDCWD, "file", R_OK, 0)) \
	X(readlink_path, readlink("a/link", buffer, sizeof(buffer)) < 0) \
	X(readlink_dir, readlinkat(dir, "link", buffer, sizeof(buffer)) < 0) \
	X(readlink_file, readlink("file", buffer, sizeof(buffer)) > 0) \
	X(mkdir_exists, !mkdir("a/b", 0700)) \
	X(chmod_path, chmod("a/b/file", 0644)) \
	X(chmod_dir, fchmodat(dir, "file", 0644, 0)) \
	X(chown_path, chown("a/b/file", 0, 0)) \
	X(chown_dir, fchownat(dir, "file", 0, 0, 0)) \
	X(truncate_path, truncate("a/b/file", 1000)) \
	X(utimensat_here, utimensat(AT_FDCWD, "file", times, 0)) \
	X(utimensat_path, utimensat(AT_FDCWD, "a/b/file", times, 0)) \
	X(getxattr_here, getxattr("file", ATTRIBUTE, buffer, 100) != 5) \
	X(lgetxattr_path, lgetxattr("a/b/file", ATTRIBUTE, buffer, 100) != 5) \
	X(lgetxattr_file, lgetxattr("file", ATTRIBUTE, buffer, 100) != 5) \
	X(listxattr_here, listxattr("file", buffer, 100) != sizeof(ATTRIBUTE)) \
	X(realpath, !realpath(absolute, buffer))

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	double begin;
	int fd;

	if (argc != 2)
		errx(1, "usage: calls DIRECTORY");
	check(chdir(argv[1]), argv[1]);
	check(mkdir("a", 0755) || mkdir("a/b", 0755), "mkdir");
	fd = open("file", O_CREAT | O_RDWR, 0644);
	check(fd < 0 || ftruncate(fd, 1000) || write(fd, buffer, 1000) != 1000,
	      "file");
	check(setxattr("file", ATTRIBUTE, "value", 5, 0), ATTRIBUTE);
	check(link("file", "a/b/file") || symlink("file", "link"), "link");
	/* Later reads do not change its time, because a tick has passed since the write. */
	cached = open("cached", O_CREAT | O_RDWR, 0644);
	check(cached < 0 || write(cached, buffer, 1000) != 1000, "cached");
	usleep(20000);
	check(pread(cached, buffer, 1, 0) != 1, "cached");
	dir = open(".", O_RDONLY | O_DIRECTORY);
	check(dir < 0, "open");
	check(link("file", "a/file"), "link");
	check(mkdir("a/b/c", 0755) || mkdir("a/b/c/d", 0755) || mkdir("a/b/c/d/e", 0755) ||
	      link("file", "a/b/c/d/e/file"), "a deep file");
	check(!realpath("a/b/file", absolute), "realpath");
	check(symlink("file", "a/link"), "link");
	dir = open("a", O_RDONLY | O_DIRECTORY);

#define MEASURE(name, call) {						\
	for (int i = 0; i < 20; i++)					\
		check(call, #name);					\
	begin = now();							\
	COSY_START;							\
	for (int i = 0; i < RUNS; i++)					\
		check(call, #name);					\
	COSY_END;							\
	printf("%-16s %8.0f\n", #name, (now() - begin) / RUNS);	\
}
	MEASURED(MEASURE)
#ifndef __COSY_PLUGIN__
	MEASURED_ALONE(MEASURE)
#endif
	return 0;
}
