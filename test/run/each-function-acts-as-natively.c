// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Each function of preload.def has the same effect through the module as natively. With all
 * combinations of correct, wrong and unusual arguments it returns the same, leaves the same in
 * errno and in its buffer, and changes a directory in the same way.
 */

// RUN: %cc -O1 -Wall -I%root/compound-ir %s -o %t
// RUN: %vm %t native >%t.native
// RUN: %vm %build/bin/cosy run %t module >%t.module
// RUN: cmp %t.native %t.module
// RUN: FileCheck %s <%t.native
// Without a module the results are the same again. This makes one call of thirteen.
// RUN: %vm unshare -m bash -c 'mount --bind /dev/null /dev/cosy && %build/bin/cosy run %t some' >%t.none
// RUN: %vm %t some | cmp - %t.none
// glibc makes the system call that preload.def names: a filter may forbid only that one.
// RUN: %vm %t forbidden
// So do later versions of glibc.
// RUN: for suite in trixie sid; do libc=%build/fetched/libc/$suite; %vm $libc/ld-linux-x86-64.so.2 --library-path $libc %t forbidden || exit 1; done

// CHECK: stat("file", buffer) = 0, errno 77 file 81a0 1 5
// CHECK: stat("missing", buffer) = -1, errno 2
// CHECK: open("file", O_RDONLY, 0) = 3, errno 77
// CHECK: utimensat("file", explicit, AT_FDCWD, 0) = 0, errno 77 changes
// CHECK: utime("file", seconds) = 0, errno 77 changes
// CHECK: lutimes("link", micros) = 0, errno 77 changes
// CHECK: getxattr("file", "trusted.note", buffer, 4096) = 5, errno 77 "value"
// CHECK: getxattr("file", "trusted.note", buffer, 3) = -1, errno 34

#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "../Inputs/raw-syscall.h"

/* Not in glibc's headers; only old programs use the first one. */
#define OLD(function) __asm__(".symver " #function ", " #function "@GLIBC_" OLD_VERSION)
#define OLD_VERSION "2.2.5"
OLD(__xstat);
OLD(__xstat64);
OLD(__lxstat);
OLD(__lxstat64);
#undef OLD_VERSION
#define OLD_VERSION "2.4"
OLD(__fxstatat);
OLD(__fxstatat64);
int __xstat(int, const char *, struct stat *);
int __xstat64(int, const char *, struct stat64 *);
int __lxstat(int, const char *, struct stat *);
int __lxstat64(int, const char *, struct stat64 *);
int __fxstatat(int, int, const char *, struct stat *, int);
int __fxstatat64(int, int, const char *, struct stat64 *, int);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);

/* Begins when the values have been chosen, ends when all were used. */
struct value {
	long value;
	const char *text;
};

#define VALUES(...) copied((const struct value[]){ __VA_ARGS__, { 0, NULL } },	\
			   sizeof((const struct value[]){ __VA_ARGS__, { 0, NULL } }))
#define NUMBER(n) { n, #n }

static char *at_page_end, *beyond, *read_only;
static char long_name[300], long_path[5000], entry_255[256], path_250[251], buffer[4200];

static const struct timespec explicit[2] = { { 1, 2 }, { 3, 4 } };
static const struct timespec omitted[2] = { { 0, UTIME_OMIT }, { 5, 6 } };
static const struct timespec wrong[2] = { { 7, 8 }, { 9, 1000000000 } };
static const struct utimbuf seconds = { 11, -12 };
static const struct timeval micros[2] = { { 13, 999999 }, { 14, 15 } };
static const struct timeval too_large[2] = { { 16, 17 }, { 18, 1000000 } };
static const struct timeval overflow[2] = { { 19, -1 }, { 20, 1l << 62 } };

/* Descriptors that differ from those that calls return. */
enum { dir = 10, file };

static const struct value *copied(const struct value *from, size_t size)
{
	return memcpy(malloc(size), from, size);
}

static const struct value *paths(bool few)
{
	static struct value all[40], some[40];
	int n = 0, m = 0;

	if (all[0].text)
		return few ? some : all;
#define PATH(p, name) all[n++] = (struct value){ (long)(p), name }
	PATH("file", "\"file\"");
	PATH("sub", "\"sub\"");
	PATH("missing", "\"missing\"");
	PATH("link", "\"link\"");
	PATH("dangling", "\"dangling\"");
	PATH("sub/inner", "\"sub/inner\"");
	PATH("file/x", "\"file/x\"");
	PATH("", "\"\"");
	for (m = 0; m < n; m++)
		some[m] = all[m];
	PATH("loop", "\"loop\"");
	PATH("fifo", "\"fifo\"");
	PATH("empty", "\"empty\"");
	PATH("missing/x", "\"missing/x\"");
	PATH("linkdir/inner", "\"linkdir/inner\"");
	PATH("sub/", "\"sub/\"");
	PATH("file/", "\"file/\"");
	PATH("linkdir/", "\"linkdir/\"");
	PATH("missing/", "\"missing/\"");
	PATH(".", "\".\"");
	PATH("..", "\"..\"");
	PATH("./sub/../file", "\"./sub/../file\"");
	PATH("/proc/self/fd/999", "\"/proc/self/fd/999\"");
	PATH(entry_255, "entry_255");
	PATH(long_name, "long_name");
	PATH(path_250, "path_250");
	PATH(long_path, "long_path");
	PATH(at_page_end, "at_page_end");
	PATH(beyond, "beyond");
	PATH(NULL, "NULL");
	PATH(1ul << 63, "1ul << 63");
	return few ? some : all;
}

static const struct value *values(const char *function, const char *name)
{
	bool open = strstr(function, "open");

	/* Not all for functions that differ only by name, or have many parameters. */
	if (!strcmp(name, "path"))
		return paths(strstr(function, "utim") || strstr(function, "lgetxattr") ||
			     strstr(function, "llistxattr") || strstr(function, "symlink") || strstr(function, "64") ||
			     !strncmp(function, "__", 2) || !strcmp(function, "statx") ||
			     !strcmp(function, "fchownat") || !strcmp(function, "fchmodat") ||
			     !strcmp(function, "faccessat") || strstr(function, "linkat"));
	if (!strcmp(name, "target"))
		return VALUES({ (long)"file", "\"file\"" }, { (long)"", "\"\"" },
			      { (long)long_path, "long_path" }, { 0, "NULL" });
	if (!strcmp(name, "attribute"))
		return VALUES({ (long)"trusted.note", "\"trusted.note\"" },
			      { (long)"user.mime", "\"user.mime\"" },
			      { (long)"system.posix_acl_access", "\"system.posix_acl_access\"" },
			      { (long)"nothing", "\"nothing\"" }, { (long)"", "\"\"" },
			      { (long)entry_255, "entry_255" }, { (long)long_name, "long_name" },
			      { (long)beyond, "beyond" }, { 0, "NULL" });
	if (!strcmp(name, "times"))
		return VALUES({ (long)explicit, "explicit" }, { (long)omitted, "omitted" },
			      { (long)wrong, "wrong" }, { (long)beyond, "beyond" }, { 0, "NULL" });
	if (!strcmp(name, "utimbuf"))
		return VALUES({ (long)&seconds, "seconds" }, { 0, "NULL" });
	if (!strcmp(name, "timevals"))
		return VALUES({ (long)micros, "micros" }, { (long)too_large, "too_large" },
			      { (long)overflow, "overflow" }, { 0, "NULL" });
	if (!strcmp(name, "from") || !strcmp(name, "to"))
		return paths(true);
	if (!strcmp(name, "dir"))
		return VALUES(NUMBER(AT_FDCWD), { dir, "dir" }, { file, "file" }, NUMBER(-1),
			      NUMBER(999));
	if (!strcmp(name, "olddir") || !strcmp(name, "newdir"))
		return VALUES(NUMBER(AT_FDCWD), { dir, "dir" }, NUMBER(-1));
	if (!strcmp(name, "buffer"))
		return VALUES({ (long)buffer, "buffer" }, { (long)read_only, "read_only" },
			      { 0, "NULL" });
	if (!strcmp(name, "size"))
		return VALUES(NUMBER(4096), NUMBER(3), NUMBER(0), NUMBER(-1));
	if (!strcmp(name, "room"))
		return VALUES(NUMBER(-1));
	if (!strcmp(name, "version"))
		return VALUES(NUMBER(0), NUMBER(1), NUMBER(2), NUMBER(-1));
	if (!strcmp(name, "length"))
		return VALUES(NUMBER(3), NUMBER(0), NUMBER(-1), NUMBER(1l << 62));
	if (!strcmp(name, "user") || !strcmp(name, "group"))
		return VALUES(NUMBER(-1), NUMBER(0), NUMBER(12345));
	if (!strcmp(name, "mask"))
		return VALUES(NUMBER(STATX_BASIC_STATS), NUMBER(STATX_ALL), NUMBER(1 << 31), NUMBER(0));
	if (!strcmp(name, "mode"))
		return open ? VALUES(NUMBER(0), NUMBER(0640)) :
			      VALUES(NUMBER(0), NUMBER(04), NUMBER(07777), NUMBER(0100000));
	if (!strcmp(name, "flags") && !strncmp(function, "__open", 6))
		return VALUES(NUMBER(O_RDONLY), NUMBER(O_WRONLY | O_TRUNC), NUMBER(O_PATH));
	if (!strcmp(name, "flags") && open)
		return VALUES(NUMBER(O_RDONLY), NUMBER(O_RDWR), NUMBER(O_WRONLY | O_CREAT),
			      NUMBER(O_RDWR | O_CREAT | O_EXCL), NUMBER(O_WRONLY | O_TRUNC),
			      NUMBER(O_DIRECTORY), NUMBER(O_NOFOLLOW), NUMBER(O_PATH),
			      NUMBER(O_PATH | O_NOFOLLOW), NUMBER(O_TMPFILE | O_RDWR),
			      NUMBER(O_CREAT | O_DIRECTORY), NUMBER(O_APPEND | O_WRONLY),
			      NUMBER(O_CLOEXEC | O_NONBLOCK), NUMBER(3), NUMBER(1 << 30));
	if (!strcmp(name, "flags") && !strcmp(function, "utimensat"))
		return VALUES(NUMBER(0), NUMBER(AT_SYMLINK_NOFOLLOW), NUMBER(AT_EMPTY_PATH), NUMBER(1));
	if (!strcmp(name, "flags"))
		return VALUES(NUMBER(0), NUMBER(AT_SYMLINK_NOFOLLOW), NUMBER(AT_EMPTY_PATH),
			      NUMBER(AT_REMOVEDIR), NUMBER(AT_SYMLINK_FOLLOW), NUMBER(1),
			      NUMBER(AT_NO_AUTOMOUNT), NUMBER(0x6000), NUMBER(1 << 30));
	errx(1, "%s: no values for %s", function, name);
}

static void check(int failed, const char *what)
{
	if (failed)
		err(1, "%s", what);
}

/* Create the directory before each call, by system calls that are not interposed. */
static void make_files(void)
{
	int fd = raw_syscall(SYS_openat, AT_FDCWD, "file", O_CREAT | O_WRONLY | O_TRUNC, 0644);

	check(fd < 0 || write(fd, "12345", 5) != 5 || close(fd), "file");
	check(setxattr("file", "trusted.note", "value", 5, 0), "trusted.note");
	/* Not every kernel's tmpfs supports these. */
	check(setxattr("file", "user.mime", "text", 4, 0) && errno != EOPNOTSUPP, "user.mime");
	check(raw_syscall(SYS_mkdir, "sub", 0755) || raw_syscall(SYS_mkdir, "empty", 0755), "mkdir");
	fd = raw_syscall(SYS_openat, AT_FDCWD, "sub/inner", O_CREAT | O_WRONLY, 0600);
	check(fd < 0 || close(fd), "inner");
	check(raw_syscall(SYS_symlink, "file", "link") || raw_syscall(SYS_symlink, "sub", "linkdir") ||
	      raw_syscall(SYS_symlink, "nowhere", "dangling") ||
	      raw_syscall(SYS_symlink, "loop", "loop"), "symlink");
	check(raw_syscall(SYS_mknod, "fifo", S_IFIFO | 0600, 0), "fifo");
}

static void open_files(void)
{
	int fd = raw_syscall(SYS_openat, AT_FDCWD, "sub", O_RDONLY | O_DIRECTORY);

	check(fd < 0 || dup2(fd, dir) != dir || close(fd), "sub");
	fd = raw_syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY);
	check(fd < 0 || dup2(fd, file) != file || close(fd), "file");
}

static void remove_all(const char *in, bool itself)
{
	int fd = raw_syscall(SYS_openat, AT_FDCWD, in, O_RDONLY | O_DIRECTORY);
	struct dirent64 *entry;
	char entries[8192], name[700];
	long n, at;

	check(fd < 0, in);
	n = getdents64(fd, entries, sizeof(entries));
	for (at = 0; at < n; at += entry->d_reclen) {
		entry = (void *)(entries + at);
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(name, sizeof(name), "%s/%s", in, entry->d_name);
		if (raw_syscall(SYS_unlink, name) && errno == EISDIR)
			remove_all(name, true);
	}
	close(fd);
	if (itself)
		check(raw_syscall(SYS_rmdir, in), in);
}

/* Return true for a time that a call has set, which is not the present. */
static long set_time(struct timespec t)
{
	return t.tv_sec < 1000000 ? t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

/* The contents of the directory: names, and the relevant members of their status. */
static void describe(const char *in, char *to, size_t size)
{
	int fd = raw_syscall(SYS_openat, AT_FDCWD, in, O_RDONLY | O_DIRECTORY), count = 0;
	struct dirent64 *entry, *found[64];
	char entries[8192], name[700];
	struct stat st;
	long n, at;

	check(fd < 0, in);
	n = getdents64(fd, entries, sizeof(entries));
	close(fd);
	for (at = 0; at < n; at += entry->d_reclen) {
		entry = (void *)(entries + at);
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			found[count++] = entry;
	}
	for (int i = 0; i < count; i++)
		for (int j = i + 1; j < count; j++)
			if (strcmp(found[i]->d_name, found[j]->d_name) > 0) {
				entry = found[i];
				found[i] = found[j];
				found[j] = entry;
			}
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%s", in, found[i]->d_name);
		check(raw_syscall(SYS_lstat, name, &st), name);
		n = snprintf(to, size, " %.20s:%o:%lu:%ld:%u:%u:%ld:%ld", found[i]->d_name, st.st_mode,
			     S_ISDIR(st.st_mode) ? 0 : st.st_nlink,
			     S_ISDIR(st.st_mode) ? 0 : st.st_size, st.st_uid, st.st_gid,
			     set_time(st.st_atim), set_time(st.st_mtim));
		to += n;
		size -= n;
		if (S_ISDIR(st.st_mode) && !(n = 0)) {
			describe(name, to, size);
			n = strlen(to);
			to += n;
			size -= n;
		}
	}
}

static void print_buffer(const char *name, long result)
{
	if (strstr(name, "statx")) {
		struct statx *x = (void *)buffer;

		printf(" statx %x %o %u %llu %u", x->stx_mask, x->stx_mode, x->stx_nlink,
		       S_ISDIR(x->stx_mode) ? 0 : x->stx_size, x->stx_uid);
	} else if (strstr(name, "stat")) {
		struct stat *st = (void *)buffer;

		printf(" file %lx %lu %ld %u %ld", (long)st->st_mode,
		       S_ISDIR(st->st_mode) ? 0 : st->st_nlink,
		       S_ISDIR(st->st_mode) ? 0 : st->st_size, st->st_uid, st->st_blksize);
	} else {
		printf(" \"%.*s\"", result > 0 && result < 200 ? (int)result : 0, buffer);
	}
}

static char before[8192], after[8192];

/* Print the results of a call, and undo it. */
static void report(const char *name, const char *arguments, long result, int error)
{
	/* /proc belongs to the kernel, and its inode numbers change. */
	printf("%s(%s) = %ld, errno %d", name, arguments, result, error);
	if (!result && strstr(name, "stat"))
		print_buffer(name, result);
	if (strstr(name, "readlink") || strstr(name, "xattr"))
		print_buffer(name, result);
	if (strstr(name, "open") && result >= 0) {
		struct stat st;

		printf(" flags %x %x", fcntl(result, F_GETFL), fcntl(result, F_GETFD));
		check(fstat(result, &st), "fstat");
		printf(" mode %o", st.st_mode);
		close(result);
	}
	if (strstr(name, "stat") || strstr(name, "access") || strstr(name, "readlink") ||
	    strstr(name, "xattr")) {
		putchar('\n');
		return;
	}
	describe(".", after, sizeof(after));
	if (strcmp(before, after)) {
		printf(" changes%s", after);
		remove_all(".", false);
		make_files();
		open_files();
	}
	putchar('\n');
}

/* At the number COSY_HIDE_FIRST above the limit. */
static bool is_device_open(void)
{
	struct rlimit limit;
	char name[64], path[64];
	ssize_t n;

	check(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	snprintf(name, sizeof(name), "/proc/self/fd/%lu", limit.rlim_cur + 32);
	n = raw_syscall(SYS_readlink, name, path, sizeof(path));
	return n == 9 && !memcmp(path, "/dev/cosy", 9);
}

/*
 * Each name of a parameter of a function gets each of its values. @at counts through them. A name
 * that a function does not have gets one value.
 */
enum { PATH, FROM, TO, TARGET, ATTRIBUTE, TIMES, UTIMBUF, TIMEVALS, DIR_, OLDDIR, NEWDIR, BUFFER, FLAGS, MODE,
       MASK, SIZE, ROOM, VERSION, LENGTH, USER, GROUP, NAMES };
static const char *const names_of[NAMES] = {
	"path", "from", "to", "target", "attribute", "times", "utimbuf", "timevals", "dir", "olddir", "newdir", "buffer",
	"flags", "mode", "mask", "size", "room", "version", "length", "user", "group",
};

static bool has_name(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p++)
		if (strchr("( ", p[-1]) && strchr(",)", p[length]))
			return true;
	return false;
}

/* The module makes the last call. */
static bool applies;

#define V(name) (at[name] ? at[name]->value : 0)

#define COSY_PRELOAD_IF(function, name, condition, params, names, ...)		\
static long call_##function(const struct value **at)				\
{										\
	const char *path = (void *)V(PATH), *from = (void *)V(FROM);		\
	const char *to = (void *)V(TO), *target = (void *)V(TARGET);		\
	const char *attribute = (void *)V(ATTRIBUTE);				\
	const void *times = (void *)V(TIMES);					\
	const void *utimbuf = (void *)V(UTIMBUF);				\
	const void *timevals = (void *)V(TIMEVALS);				\
	int dir = V(DIR_), olddir = V(OLDDIR), newdir = V(NEWDIR);		\
	int flags = V(FLAGS), version = V(VERSION);				\
	unsigned int mode = V(MODE), mask = V(MASK), user = V(USER);		\
	unsigned int group = V(GROUP);						\
	unsigned long size = V(SIZE), room = V(ROOM);				\
	long length = V(LENGTH);						\
	void *buffer = (void *)V(BUFFER);					\
										\
	(void)path, (void)from, (void)to, (void)target, (void)dir;		\
	(void)attribute, (void)times, (void)utimbuf, (void)timevals;		\
	(void)olddir, (void)newdir, (void)flags, (void)version;			\
	(void)mode, (void)mask, (void)user, (void)group, (void)size;		\
	(void)room, (void)length, (void)buffer;					\
	applies = condition;							\
	errno = 77;								\
	return function names;							\
}
#include <preload.def>

static const struct {
	const char *name, *names;
	int nr;
	long (*call)(const struct value **at);
} functions[] = {
#define COSY_PRELOAD_IF(function, name, condition, params, names, ...) \
	{ #function, #names, SYS_##name, call_##function },
#include <preload.def>
};

static void prepare_names(void)
{
	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(entry_255, 'e', sizeof(entry_255) - 1);
	for (size_t i = 0; i < sizeof(long_path) - 1; i++)
		long_path[i] = i % 2 ? '/' : '.';
	for (size_t i = 0; i < sizeof(path_250) - 1; i++)
		path_250[i] = i % 2 ? '/' : '.';
	strcpy(path_250 + 246, "file");
	read_only = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(read_only == MAP_FAILED || munmap(read_only + 4096, 4096), "mmap");
	at_page_end = read_only + 4096 - 5;
	memcpy(at_page_end, "file", 5);
	check(mprotect(read_only, 4096, PROT_READ), "mprotect");
	beyond = read_only + 4096;
}

/*
 * Of all combinations of values, for all functions, one of @step is used. A prime number: some
 * arguments have 4 or 8 values, and a multiple of these would always choose the same one.
 */
static unsigned int step = 1, combinations;

/* Call a function with the combinations of values, and @use for each. */
static void call_all(size_t f, void (*use)(size_t f, const char *arguments, long result, int error))
{
	const struct value *at[NAMES], *first[NAMES];
	char arguments[2000];
	int i;

	for (i = 0; i < NAMES; i++)
		first[i] = at[i] = has_name(functions[f].names, names_of[i]) ?
			values(functions[f].name, names_of[i]) : NULL;
	do {
		long result;
		size_t n = 0;

		if (combinations++ % step)
			goto next;
		memset(buffer, 0, sizeof(buffer));
		for (i = 0; i < NAMES; i++)
			if (at[i])
				n += snprintf(arguments + n, sizeof(arguments) - n,
					      "%s%s", n ? ", " : "", at[i]->text);
		/* Opening a FIFO waits for the other end. */
		if (strstr(functions[f].name, "open") && at[PATH]->value &&
		    strstr(at[PATH]->text, "fifo"))
			result = -1, errno = 0, applies = false;
		else
			result = functions[f].call(at);
		use(f, arguments, result, errno);
next:
		for (i = 0; i < NAMES; i++) {
			if (!at[i])
				continue;
			if ((++at[i])->text)
				break;
			at[i] = first[i];
		}
	} while (i < NAMES);
}

static void expect_forbidden(size_t f, const char *arguments, long result, int error)
{
	if (applies && (result != -1 || error != 99))
		errx(1, "%s(%s) = %ld, errno %d: not system call %d", functions[f].name, arguments,
		     result, error, functions[f].nr);
}

/* In a child, which a filter forbids the system call of the function. */
static void check_number(size_t f)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, functions[f].nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 99),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pid_t child = fork();
	int status;

	if (!child) {
		check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "filter");
		call_all(f, expect_forbidden);
		_exit(0);
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	if (status)
		errx(1, "%s: status %x", functions[f].name, status);
}

static void print(size_t f, const char *arguments, long result, int error)
{
	report(functions[f].name, arguments, result, error);
}

int main(int argc, char **argv)
{
	struct stat st;

	/* A separate directory, below another one, because the functions change both. */
	char top[] = "/tmp/calls-XXXXXX";

	check(!mkdtemp(top) || chdir(top) || raw_syscall(SYS_mkdir, "in", 0755) || chdir("in"), top);
	umask(027);
	prepare_names();
	make_files();
	open_files();
	check(argc != 2, "usage: calls native|module|some|forbidden");
	if (!strcmp(argv[1], "forbidden")) {
		for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++)
			check_number(f);
		return 0;
	}
	describe(".", before, sizeof(before));
	/* The first calls are always native. */
	for (int i = 0; i < 100; i++)
		check(stat(".", &st), "stat");
	if (is_device_open() != !strcmp(argv[1], "module"))
		errx(1, "the device is %sopen", is_device_open() ? "" : "not ");

	if (!strcmp(argv[1], "some"))
		step = 13;
	for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++)
		call_all(f, print);
	if (is_device_open() != !strcmp(argv[1], "module"))
		errx(1, "the device is %sopen in the end", is_device_open() ? "" : "not ");
	return 0;
}
