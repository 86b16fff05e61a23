// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * paths.c - every call with names, with names of every kind, natively and in a region, with a
 * comparison.
 *
 *	paths [--landlock] DIRECTORY
 *
 * With --landlock, the process has few rights. Calls that change files are made in two equal
 * trees, a natively and b in a region, which are compared afterwards. Prints differences and a
 * summary.
 */
#define _GNU_SOURCE
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NAMES(x) (sizeof(x) / sizeof(*(x)))

static unsigned int tried, failures;

/* Make each call natively and as a region. */
typedef long call_fn(long, long, long, long, long);
struct both {
	const char *name;
	call_fn *native, *region;
};
#define CALL(call)							\
static long native_##call(long a, long b, long c, long d, long e)	\
{									\
	return syscall(SYS_##call, a, b, c, d, e);			\
}									\
static long region_##call(long a, long b, long c, long d, long e)	\
{									\
	long ret;							\
									\
	COSY_START;							\
	ret = syscall(SYS_##call, a, b, c, d, e);			\
	COSY_END;							\
	return ret;							\
}									\
static const struct both call_##call = { #call, native_##call, region_##call };

CALL(stat)
CALL(lstat)
CALL(newfstatat)
CALL(statx)
CALL(open)
CALL(openat)
CALL(unlink)
CALL(unlinkat)
CALL(rmdir)
CALL(mkdir)
CALL(mkdirat)
CALL(rename)
CALL(renameat)
CALL(renameat2)
CALL(link)
CALL(linkat)
CALL(symlink)
CALL(symlinkat)
CALL(access)
CALL(faccessat)
CALL(faccessat2)
CALL(readlink)
CALL(readlinkat)
CALL(chmod)
CALL(fchmodat)
CALL(chown)
CALL(lchown)
CALL(fchownat)
CALL(truncate)
CALL(utimensat)
CALL(getxattr)
CALL(lgetxattr)
CALL(listxattr)
CALL(llistxattr)

/* A string that ends at the end of its memory. */
static char *at_end(const char *text)
{
	static char *map;
	size_t len = strlen(text) + 1;

	if (!map) {
		map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(map + 2 * 4096, 4096);
	}
	return memcpy(map + 2 * 4096 - len, text, len);
}

static void differs(const struct both *call, const char *name, const char *what,
		    long native, long region)
{
	failures++;
	printf("%s %.60s: %s: natively %ld, in a region %ld\n", call->name,
	       name, what, native, region);
}

/* The flags of an open file, from /proc. */
static void compare_opened(const struct both *call, const char *name, int native, int region)
{
	static const int commands[] = { F_GETFL, F_GETFD, F_GETOWN };

	for (size_t i = 0; i < NAMES(commands); i++) {
		int expected = fcntl(native, commands[i]), got = fcntl(region, commands[i]);

		if (expected != got)
			differs(call, name, "fcntl", expected, got);
	}
}

/*
 * Make one call both ways. @native and @region are the trees' names in arguments @i and @j, -1 if
 * there is none.
 */
static void try(const struct both *call, const char *about, const long args[5],
		const long region_args[5], void *out, void *region_out,
		size_t size)
{
	long ret, error, region_ret, region_error;

	tried++;
	if (out) {
		memset(out, 0xa5, size);
		memset(region_out, 0xa5, size);
	}
	errno = 0;
	ret = call->native(args[0], args[1], args[2], args[3], args[4]);
	error = errno;
	errno = 0;
	region_ret = call->region(region_args[0], region_args[1],
				  region_args[2], region_args[3],
				  region_args[4]);
	region_error = errno;
	if (ret >= 0 && !out && strncmp(call->name, "open", 4) == 0) {
		compare_opened(call, about, (int)ret, (int)region_ret);
		close((int)ret);
		close((int)region_ret);
		/* The native one was still open. */
		if (region_ret > ret)
			region_ret = ret;
	}
	if (ret != region_ret)
		differs(call, about, "result", ret, region_ret);
	if (error != region_error)
		differs(call, about, "errno", error, region_error);
	if (out && memcmp(out, region_out, size))
		differs(call, about, "contents", 0, 0);
}

static char long_255[300], long_256[300], long_4095[4200], long_4096[4200],
	deep_300[400];

/*
 * Names that exist or do not exist in the tree of make_tree(). The last ones have long paths, and
 * are not combined with everything.
 */
enum { LONG_WAYS = 4 };
static const char *const names[] = {
	"file", "dir", "dir/", "file/", "./file", "dir/../file", "link", "link/",
	"dirlink", "dirlink/", "dirlink/inner", "dangling", "missing",
	"missing/x", "file/x", "", ".", "..", "/", "/proc/self/exe",
	"/proc/self/fd/0", "/proc/version", "/dev/null", "closed", "closed/inner",
	"fifo", "noread", "suid", "dir/a/b/c/inner", "dir/a/b/c/d/inner", "dir//inner",
	"dir/a/../inner", "dir/missing/x", long_255, long_256,
	"loop", long_4095, long_4096, deep_300,
};

static void must(bool good, const char *what)
{
	if (!good) {
		perror(what);
		exit(2);
	}
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT, mode);

	must(fd >= 0 && write(fd, "contents", 8) == 8, name);
	fchmod(fd, mode);
	close(fd);
}

/* Attributes of all kinds. If a file cannot have one, neither tree has it. */
static void add_attributes(const char *name)
{
	static const struct {
		unsigned int version;
		struct {
			unsigned short tag, permissions;
			unsigned int id;
		} entries[5];
	} acl = { 2, { { 1, 6, -1u }, { 2, 4, 1000 }, { 4, 4, -1u }, { 0x10, 4, -1u },
		       { 0x20, 4, -1u } } };

	setxattr(name, "user.mime", "text", 4, 0);
	setxattr(name, "user.empty", "", 0, 0);
	setxattr(name, "trusted.note", "root's", 6, 0);
	setxattr(name, "security.note", "a module's", 10, 0);
	setxattr(name, "system.posix_acl_access", &acl, sizeof(acl), 0);
	setxattr(name, "system.posix_acl_default", &acl, sizeof(acl), 0);
}

static void make_tree(const char *name)
{
	must(!mkdir(name, 0755) && !chdir(name), name);
	make_file("file", 0644);
	make_file("noread", 0200);
	make_file("suid", 04755);
	must(!mkdir("dir", 0755), "dir");
	make_file("dir/inner", 0600);
	must(!mkdir("dir/a", 0711) && !mkdir("dir/a/b", 0755) && !mkdir("dir/a/b/c", 0755) &&
	     !mkdir("dir/a/b/c/d", 0755), "dir/a");
	make_file("dir/a/b/c/inner", 0644);
	make_file("dir/a/b/c/d/inner", 0644);
	must(!symlink("file", "link") && !symlink("dir", "dirlink") &&
	     !symlink("nowhere", "dangling") && !symlink("loop", "loop"), "links");
	must(!mkfifo("fifo", 0644), "fifo");
	must(!mkdir("closed", 0700), "closed");
	make_file("closed/inner", 0644);
	add_attributes("file");
	add_attributes("noread");
	add_attributes("dir");
	add_attributes("closed/inner");
	must(!chmod("closed", 0), "closed");
	must(!chdir(".."), "..");
}

static long str(const char *s)
{
	return (long)(uintptr_t)s;
}

#define LOOK(call, size, ...) do {					\
	const long args[5] = { __VA_ARGS__ }; long mine[5];		\
	for (int i = 0; i < 5; i++)					\
		mine[i] = args[i] == ol ? pl : args[i];			\
	try(&call_##call, name, args, mine, (size) ? o : NULL, p, size); \
} while (0)

/* Extended attributes; one file has each of them in every size. */
static void look_at_attributes(const char *name)
{
	bool all = !strcmp(name, "file");

	static char out[2][70000];
	static const char *const attributes[] = {
		"user.mime", "system.posix_acl_access", "user.empty", "user.missing", "user.",
		"trusted.note", "security.note", "security.selinux", "security.capability",
		"system.posix_acl_default", "system.missing", "missing.note", "nothing", "",
		long_255, long_256,
	};
	static const long sizes[] = { 100, 0, 3, 4, 65536, 65537, 1L << 40, -1 };
	void *o = out[0], *p = out[1];
	long n = str(name), ol = str(out[0]), pl = str(out[1]);

	for (size_t a = 0; a < NAMES(attributes); a++) {
		for (size_t s = 0; s < (all ? NAMES(sizes) : 1); s++) {
			LOOK(getxattr, 4096, n, str(attributes[a]), ol, sizes[s]);
			LOOK(lgetxattr, 4096, n, str(attributes[a]), ol, sizes[s]);
		}
	}
	LOOK(getxattr, 0, n, str("user.mime"), 8, 100);
	LOOK(getxattr, 0, n, str("user.mime"), 8, 0);
	LOOK(lgetxattr, 0, n, 8, 8, 100);
	for (size_t s = 0; s < (all ? NAMES(sizes) : 2); s++) {
		LOOK(listxattr, 4096, n, ol, sizes[s]);
		LOOK(llistxattr, 4096, n, ol, sizes[s]);
	}
	LOOK(listxattr, 0, n, 8, 4096);
	LOOK(llistxattr, 0, n, 8, 0);
}

/*
 * Calls that do not change files: in the same tree. With @all, flags and masks are combined,
 * otherwise each of them is tried with one of the others.
 */
static void look(const char *name, int dirfd, bool relative, bool all)
{
	static char out[2][8192];
	static const long flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT,
				      AT_EMPTY_PATH,
				      AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				      AT_EACCESS, AT_STATX_FORCE_SYNC,
				      AT_STATX_DONT_SYNC, AT_STATX_SYNC_TYPE,
				      0x8000000 };
	static const long masks[] = { STATX_BASIC_STATS, STATX_ALL, 0,
				      1L << 31 };
	static const long opens[] = {
		O_RDONLY, O_RDWR, O_WRONLY | O_APPEND, O_RDONLY | O_DIRECTORY,
		O_RDONLY | O_NOFOLLOW, O_PATH, O_PATH | O_NOFOLLOW,
		O_PATH | O_DIRECTORY | O_CLOEXEC, O_PATH | O_RDWR | O_CREAT | O_EXCL | O_TRUNC | O_APPEND,
		O_RDONLY | O_CLOEXEC, O_RDONLY | O_NOATIME, O_RDWR | O_TMPFILE,
		O_RDONLY | O_DIRECT, 3, 0x40000000, O_RDONLY | O_APPEND | O_SYNC,
		O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
		O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | 0x40000000,
	};
	long n = str(name);
	void *o = out[0], *p = out[1];
	long ol = (long)(uintptr_t)o, pl = (long)(uintptr_t)p;

	if (relative) {
		LOOK(stat, sizeof(struct stat), n, ol);
		LOOK(lstat, sizeof(struct stat), n, ol);
		LOOK(stat, 0, n, 8);
		for (long mode = 0; mode < 10; mode++)
			LOOK(access, 0, n, mode);
		LOOK(readlink, 4100, n, ol, 4096);
		LOOK(readlink, 16, n, ol, 3);
		LOOK(readlink, 16, n, ol, 0);
		LOOK(readlink, 16, n, ol, -1);
		LOOK(readlink, 0, n, 8, 100);
		look_at_attributes(name);
	}
	for (size_t f = 0; f < NAMES(flags); f++) {
		LOOK(newfstatat, sizeof(struct stat), dirfd, n, ol, flags[f]);
		LOOK(faccessat2, 0, dirfd, n, 5, flags[f]);
		for (size_t m = 0; m < (all || !f ? NAMES(masks) : 1); m++)
			LOOK(statx, sizeof(struct statx), dirfd, n, flags[f],
			     masks[m], ol);
	}
	LOOK(statx, 0, dirfd, n, 0, STATX_BASIC_STATS, 8);
	LOOK(newfstatat, 0, dirfd, n, 8, 0);
	LOOK(faccessat, 0, dirfd, n, 4);
	LOOK(readlinkat, 4100, dirfd, n, ol, 4096);
	/* Opening a FIFO would wait. */
	if (strcmp(name, "fifo"))
		for (size_t i = 0; i < NAMES(opens); i++) {
			LOOK(openat, 0, dirfd, n, opens[i], 0644);
			if (relative)
				LOOK(open, 0, n, opens[i], 0644);
		}
}

/* The arguments of a call, with the tree's name before relative names. */
static char *in_tree(char *buffer, const char *tree, const char *name)
{
	if (*name == '/' || !*name)
		return strcpy(buffer, name);
	sprintf(buffer, "%s/%s", tree, name);
	return buffer;
}

/* Calls that change files: in both trees. */
static void change(const struct both *call, const char *first, const char *second,
		   const long args[5], int i, int j)
{
	static char buffers[4][8400];
	long mine[2][5];

	for (int t = 0; t < 2; t++) {
		memcpy(mine[t], args, sizeof(mine[t]));
		if (i >= 0)
			mine[t][i] = str(in_tree(buffers[2 * t],
						 t ? "b" : "a", first));
		if (j >= 0)
			mine[t][j] = str(in_tree(buffers[2 * t + 1],
						 t ? "b" : "a", second));
	}
	try(call, first ? first : "(null)", mine[0], mine[1], NULL, NULL, 0);
}

#define CHANGE(call, first, second, i, j, ...) do {			\
	const long args[5] = { __VA_ARGS__ };				\
	change(&call_##call, first, second, args, i, j);		\
} while (0)

/* A time that was set, or a different one. */
static long set_time(struct timespec t)
{
	return t.tv_sec < 1000000 ? t.tv_sec * 1000000000 + t.tv_nsec : -1;
}

static void compare_times(const char *name)
{
	static char buffer[8400];
	struct stat st[2];

	for (int t = 0; t < 2; t++)
		if (lstat(in_tree(buffer, t ? "b" : "a", name), &st[t]))
			return;
	if (set_time(st[0].st_mtim) != set_time(st[1].st_mtim))
		differs(&call_utimensat, name, "mtime", set_time(st[0].st_mtim),
			set_time(st[1].st_mtim));
	if (set_time(st[0].st_atim) != set_time(st[1].st_atim))
		differs(&call_utimensat, name, "atime", set_time(st[0].st_atim),
			set_time(st[1].st_atim));
}

static void change_times(const char *name)
{
	static const struct timespec times[][2] = {
		{ { 1, 2 }, { 3, 4 } },
		{ { 0, UTIME_OMIT }, { 5, 6 } },
		{ { 7, 8 }, { 0, UTIME_OMIT } },
		{ { 0, UTIME_NOW }, { 9, 10 } },
		{ { 11, 12 }, { 0, UTIME_NOW } },
		{ { 0, UTIME_OMIT }, { 0, UTIME_OMIT } },
		{ { 0, UTIME_NOW }, { 0, UTIME_NOW } },
		{ { 0, 1000000000 }, { 0, 0 } },
		{ { 0, 0 }, { 0, -1 } },
		{ { -1, 999999999 }, { 13, 0 } },
	};
	static const long flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1 };

	/* The plain call rejects the last two flags. */
	for (size_t f = 0; f < NAMES(flags); f++) {
		CHANGE(utimensat, name, NULL, 1, -1, AT_FDCWD, 0, 0, flags[f]);
		compare_times(name);
		CHANGE(utimensat, name, NULL, 1, -1, AT_FDCWD, 0, 8, flags[f]);
		for (size_t t = 0; t < (f < 2 ? NAMES(times) : 1); t++) {
			CHANGE(utimensat, name, NULL, 1, -1, AT_FDCWD, 0,
			       (long)(uintptr_t)times[t], flags[f]);
			compare_times(name);
		}
	}
	CHANGE(utimensat, name, NULL, 1, -1, 12345, 0, (long)(uintptr_t)times[0], 0);
}

static void change_all(const char *name, bool long_way)
{
	const char *others[] = { "file", "new", "dir", "missing/new", "dirlink",
				 "dir/inner", "" };

	if (*name == '/')
		return;
	for (size_t o = 0; o < (long_way ? 2 : NAMES(others)); o++) {
		const char *to = others[o];

		CHANGE(link, name, to, 0, 1, 0);
		CHANGE(linkat, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       AT_SYMLINK_FOLLOW);
		CHANGE(linkat, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       AT_EMPTY_PATH);
		CHANGE(linkat, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0, 1);
		CHANGE(unlink, "new", NULL, 0, -1, 0);
		CHANGE(renameat2, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       RENAME_NOREPLACE);
		CHANGE(renameat2, to, name, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       RENAME_NOREPLACE);
		CHANGE(renameat2, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       RENAME_EXCHANGE);
		CHANGE(renameat2, to, name, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0,
		       RENAME_EXCHANGE);
		CHANGE(renameat2, name, to, 1, 3, AT_FDCWD, 0, AT_FDCWD, 0, 0x100);
		CHANGE(renameat, name, to, 1, 3, 12345, 0, AT_FDCWD, 0, 0);
		CHANGE(symlink, name, to, 0, 1, 0);
		CHANGE(symlinkat, name, to, 0, 2, 0, AT_FDCWD, 0);
	}
	CHANGE(rename, name, "renamed", 0, 1, 0);
	CHANGE(rename, "renamed", name, 0, 1, 0);
	CHANGE(mkdir, name, NULL, 0, -1, 0, 0750);
	CHANGE(mkdirat, name, NULL, 1, -1, AT_FDCWD, 0, 07777);
	CHANGE(chmod, name, NULL, 0, -1, 0, 0640);
	CHANGE(fchmodat, name, NULL, 1, -1, AT_FDCWD, 0, 04711);
	CHANGE(chown, name, NULL, 0, -1, 0, -1, -1);
	CHANGE(lchown, name, NULL, 0, -1, 0, 1, 1);
	CHANGE(fchownat, name, NULL, 1, -1, AT_FDCWD, 0, 0, 2,
	       AT_SYMLINK_NOFOLLOW);
	CHANGE(fchownat, name, NULL, 1, -1, AT_FDCWD, 0, 0, 2, 0x100000);
	CHANGE(truncate, name, NULL, 0, -1, 0, 5);
	CHANGE(truncate, name, NULL, 0, -1, 0, -5);
	change_times(name);
	CHANGE(open, name, NULL, 0, -1, 0, O_WRONLY | O_TRUNC | O_NONBLOCK, 0);
	CHANGE(open, name, NULL, 0, -1, 0, O_RDWR | O_CREAT | O_NONBLOCK, 0604);
	CHANGE(open, name, NULL, 0, -1, 0, O_RDWR | O_CREAT | O_EXCL, 0604);
	CHANGE(unlinkat, name, NULL, 1, -1, AT_FDCWD, 0, AT_REMOVEDIR);
	CHANGE(unlinkat, name, NULL, 1, -1, AT_FDCWD, 0, 7);
	CHANGE(rmdir, name, NULL, 0, -1, 0);
	CHANGE(unlinkat, name, NULL, 1, -1, AT_FDCWD, 0, 0);
	CHANGE(unlink, name, NULL, 0, -1, 0);
}

/* With names that are not readable, and some that are. */
static void faults(void)
{
	static char out[2][4096];
	static const struct timespec omitted[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };
	const char *bad[] = { NULL, (const char *)8, (const char *)-1,
			      (const char *)(1UL << 47), at_end("file") };
	long ol = (long)(uintptr_t)out[0], pl = (long)(uintptr_t)out[1];

	for (size_t i = 0; i < NAMES(bad); i++) {
		long n = str(bad[i]);
		char name[32];
		void *o = out[0], *p = out[1];

		snprintf(name, sizeof(name), "%p", (void *)bad[i]);
		LOOK(stat, sizeof(struct stat), n, ol);
		LOOK(access, 0, n, 0);
		LOOK(access, 0, n, 77);
		LOOK(openat, 0, AT_FDCWD, n, O_RDONLY);
		LOOK(openat, 0, AT_FDCWD, n, 3 | O_CREAT | O_DIRECTORY);
		LOOK(statx, 512, AT_FDCWD, n, 0, 1L << 31, ol);
		LOOK(rename, 0, str("missing/x"), n);
		LOOK(rename, 0, n, str("missing/x"));
		LOOK(renameat2, 0, AT_FDCWD, n, AT_FDCWD, n, 0x100);
		LOOK(linkat, 0, AT_FDCWD, str("missing"), AT_FDCWD, n, 1);
		LOOK(symlink, 0, str("x"), n);
		LOOK(readlink, 0, n, ol, 0);
		LOOK(unlinkat, 0, AT_FDCWD, n, 1);
		LOOK(truncate, 0, n, -1);
		LOOK(getxattr, 0, n, str("user.mime"), 8, 100);
		LOOK(getxattr, 0, str("missing"), n, 0, 0);
		LOOK(getxattr, 100, str("file"), n, ol, 100);
		LOOK(listxattr, 0, n, 8, 100);
		LOOK(utimensat, 0, AT_FDCWD, n, 0, 1);
		LOOK(utimensat, 0, AT_FDCWD, n, str((const char *)omitted), 0);
		LOOK(utimensat, 0, -1, n, str((const char *)omitted), 0);
		LOOK(utimensat, 0, -1, n, 0, 0);
		LOOK(utimensat, 0, AT_FDCWD, str("missing"), n, 0);
	}
	/* The last page is not mapped: before it, at it, after it. */
	for (size_t len = 1; len < 300; len += 23) {
		char text[301];
		void *o = out[0], *p = out[1];
		const char *name = text;

		memset(text, 'x', len);
		text[len] = '\0';
		LOOK(stat, sizeof(struct stat), str(at_end(text)), ol);
		LOOK(stat, sizeof(struct stat), str(at_end(text)) + 1, ol);
		LOOK(getxattr, 0, str("file"), str(at_end(text)), 0, 0);
		LOOK(getxattr, 0, str("file"), str(at_end(text)) + 1, 0, 0);
	}
}

static void print_tree(const char *name, int depth, FILE *to)
{
	struct dirent **list;
	int n = scandir(name, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[9000], target[4100] = "";
		struct stat st;

		if (!strcmp(list[i]->d_name, ".") || !strcmp(list[i]->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, list[i]->d_name);
		if (lstat(path, &st))
			continue;
		if (S_ISLNK(st.st_mode) && readlink(path, target, 4096) > 0 &&
		    (target[0] == 'a' || target[0] == 'b') && target[1] == '/')
			target[0] = '*';
		fprintf(to, "%*s%.80s %o %lu %u %u %ld %.80s\n", depth, "",
			list[i]->d_name, st.st_mode, (unsigned long)st.st_nlink,
			st.st_uid, st.st_gid,
			S_ISREG(st.st_mode) ? (long)st.st_size : 0, target);
		if (S_ISDIR(st.st_mode))
			print_tree(path, depth + 1, to);
	}
}

static void compare_trees(void)
{
	char *text[2];
	size_t size[2];

	for (int t = 0; t < 2; t++) {
		FILE *to = open_memstream(&text[t], &size[t]);

		print_tree(t ? "b" : "a", 0, to);
		fclose(to);
	}
	if (strcmp(text[0], text[1])) {
		failures++;
		printf("the trees differ: natively\n%sin a region\n%s", text[0],
		       text[1]);
	}
}

/* The process may only read in dir of the trees, and create files in the trees. */
static void confine(void)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	int set = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	static const struct {
		const char *name;
		__u64 access;
	} rules[] = {
		{ "a/dir", LANDLOCK_ACCESS_FS_READ_FILE },
		{ "b/dir", LANDLOCK_ACCESS_FS_READ_FILE },
		{ "a", LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_READ_DIR },
		{ "b", LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_READ_DIR },
		{ ".", LANDLOCK_ACCESS_FS_READ_DIR },
	};

	must(set >= 0, "landlock_create_ruleset");
	for (size_t i = 0; i < NAMES(rules); i++) {
		struct landlock_path_beneath_attr rule = {
			.allowed_access = rules[i].access,
			.parent_fd = open(rules[i].name, O_PATH),
		};

		must(!syscall(SYS_landlock_add_rule, set,
			      LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
		     "landlock_add_rule");
		close(rule.parent_fd);
	}
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	     !syscall(SYS_landlock_restrict_self, set, 0), "landlock");
	must(open("a/file", O_RDONLY) < 0 && errno == EACCES, "is confined");
	close(set);
}

int main(int argc, char **argv)
{
	bool confined = argc == 3 && !strcmp(argv[1], "--landlock");
	int dirfd, filefd, pathfd;

	if (argc != 2 + confined || chdir(argv[1 + confined]))
		return 2;
	umask(022);
	memset(long_255, 'n', 255);
	memset(long_256, 'n', 256);
	memset(long_4095, '/', 4094);
	strcat(long_4095, "x");
	memset(long_4096, '/', 4095);
	strcat(long_4096, "x");
	for (int i = 0; i < 100; i++)
		strcat(deep_300, "./.");
	strcat(deep_300, "/file");

	make_tree("a");
	make_tree("b");
	/* A confined process could no longer open the device. */
	must(!chdir("a"), "a");
	look("file", AT_FDCWD, true, true);
	must(!chdir(".."), "..");
	if (confined)
		confine();
	must(!chdir("a"), "a");
	dirfd = open("dir/..", O_RDONLY | O_DIRECTORY);
	filefd = open("file", O_RDONLY);
	pathfd = open("dir", O_PATH);
	for (size_t i = 0; i < NAMES(names); i++) {
		bool long_way = i >= NAMES(names) - LONG_WAYS;

		look(names[i], AT_FDCWD, true, !long_way);
		look(names[i], dirfd, false, !long_way);
		if (long_way)
			continue;
		look(names[i], filefd, false, false);
		look(names[i], pathfd, false, false);
		look(names[i], 12345, false, false);
		look(names[i], -1, false, false);
	}
	faults();
	must(!chdir(".."), "..");
	compare_trees();
	for (size_t i = 0; i < NAMES(names); i++)
		change_all(names[i], i >= NAMES(names) - LONG_WAYS);
	compare_trees();
	printf("%u tried, %u differ\n", tried, failures);
	return failures != 0;
}
