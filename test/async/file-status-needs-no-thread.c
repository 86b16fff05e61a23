/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations that return the status of a file. The module makes them without a thread if they need
 * not wait. In all cases they return the result of the call, and write its data.
 */
// RUN: %compile
// RUN: %everywhere
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "filter.h"
#include "loop.h"

#define BATCH 70

static struct cosy_loop *loop;
static struct cosy_async ops[BATCH];
static char long_name[PATH_MAX + 8];

/* A call, and the argument for its result; -1: none, or another memory. */
struct call {
	long nr;
	uint64_t args[5];
	int to;
};

#define NAME(text)	((uintptr_t)(text))
#define CWD		((uint64_t)AT_FDCWD)

static struct cosy_loop_info info_of(struct cosy_loop *of)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(of, &info, sizeof(info)), 0);
	return info;
}

/* Make the call natively, and @n times as operations. */
static void compare(struct call call, unsigned int n)
{
	static char expected[256], got[BATCH][256];
	int64_t result;

	memset(expected, 0x55, sizeof(expected));
	memset(got, 0x55, sizeof(got));
	if (call.to >= 0)
		call.args[call.to] = (uintptr_t)expected;
	result = syscall(call.nr, call.args[0], call.args[1], call.args[2], call.args[3],
			 call.args[4]);
	if (result < 0)
		result = -errno;
	for (unsigned int i = 0; i < n; i++) {
		if (call.to >= 0)
			call.args[call.to] = (uintptr_t)got[i];
		EQUAL(cosy_async_call(loop, &ops[i], call.nr, call.args[0], call.args[1],
				      call.args[2], call.args[3], call.args[4], 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < n; i++) {
		EQUAL(ops[i].result, result);
		if (call.to >= 0)
			EQUAL(memcmp(got[i], expected, sizeof(expected)), 0);
	}
}

static void all_calls(const char *name, unsigned int n)
{
	const struct call calls[] = {
		{ SYS_stat, { NAME(name) }, 1 },
		{ SYS_lstat, { NAME(name) }, 1 },
		{ SYS_newfstatat, { CWD, NAME(name), 0, 0 }, 2 },
		{ SYS_newfstatat, { CWD, NAME(name), 0, AT_SYMLINK_NOFOLLOW }, 2 },
		{ SYS_newfstatat, { CWD, NAME(name), 0, AT_EMPTY_PATH }, 2 },
		{ SYS_newfstatat, { CWD, NAME(name), 0, 1 << 20 }, 2 },
		{ SYS_newfstatat, { 4000, NAME(name), 0, 0 }, 2 },
		{ SYS_statx, { CWD, NAME(name), 0, STATX_BASIC_STATS }, 4 },
		{ SYS_statx, { CWD, NAME(name), AT_SYMLINK_NOFOLLOW, STATX_ALL }, 4 },
		{ SYS_statx, { CWD, NAME(name), AT_STATX_DONT_SYNC, 0 }, 4 },
		{ SYS_statx, { CWD, NAME(name), AT_STATX_SYNC_TYPE, 0 }, 4 },
		{ SYS_statx, { CWD, NAME(name), 1 << 20, 0 }, 4 },
		{ SYS_statx, { CWD, NAME(name), 0, 1u << 31 }, 4 },
		{ SYS_access, { NAME(name), F_OK }, -1 },
		{ SYS_access, { NAME(name), R_OK | W_OK | X_OK }, -1 },
		{ SYS_access, { NAME(name), 8 }, -1 },
		{ SYS_faccessat, { CWD, NAME(name), W_OK }, -1 },
		{ SYS_faccessat2, { CWD, NAME(name), X_OK, AT_EACCESS }, -1 },
		{ SYS_faccessat2, { CWD, NAME(name), R_OK, AT_SYMLINK_NOFOLLOW }, -1 },
		{ SYS_faccessat2, { CWD, NAME(name), R_OK, 1 << 20 }, -1 },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		compare(calls[i], n);
}

static void names(void)
{
	static const char *const some[] = {
		"file", "./file", "dir", "dir/", "dir/..", "dir/inner", "dir//inner", "dir/a/b/c/d/e/f",
		"link", "dangling", "loop", "link/none", "file/none", "none", "none/none", "", "/",
		"/proc/version", "/dev/null", "pipe", "alone", "away",
	};
	char absolute[PATH_MAX];

	EQUAL(mkdir("dir", 0755), 0);
	EQUAL(mkdir("dir/a", 0755) | mkdir("dir/a/b", 0700) | mkdir("dir/a/b/c", 0710), 0);
	EQUAL(mkdir("dir/a/b/c/d", 0755) | mkdir("dir/a/b/c/d/e", 0755), 0);
	EQUAL(mkdir("dir/a/b/c/d/e/f", 0), 0);
	EQUAL(symlink("dir/inner", "link") | symlink("nowhere", "dangling") |
	      symlink("loop", "loop") | symlink("dir/a", "away"), 0);
	EQUAL(mkfifo("pipe", 0640), 0);
	close(open("file", O_CREAT | O_WRONLY, 0640));
	close(open("alone", O_CREAT | O_WRONLY, 0));
	close(open("dir/inner", O_CREAT | O_WRONLY, 0755));
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		all_calls(some[i], 1);
		all_calls(some[i], 1 + (unsigned int)i % 5);
	}
	all_calls("file", BATCH);
	CHECK(realpath("away/b", absolute));
	all_calls(absolute, 3);
	memset(long_name, 'a', sizeof(long_name) - 1);
	all_calls(long_name, 1);
	long_name[300] = 0;
	all_calls(long_name, 2);
	long_name[200] = 0;
	all_calls(long_name, 2);
	all_calls(NULL, 2);
	all_calls((const char *)-1, 1);
}

static void descriptors(void)
{
	int dir = open("dir", O_RDONLY | O_DIRECTORY), path = open("alone", O_PATH);
	int file = open("dir/inner", O_RDONLY), pair[2], ends[2];
	struct stat st;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	EQUAL(pipe(ends), 0);
	for (unsigned int n = 1; n < 5; n++) {
		const int fds[] = { dir, path, file, pair[0], ends[1], -1, 4000, 1 << 30 };

		for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
			compare((struct call){ SYS_fstat, { (uint64_t)fds[i] }, 1 }, n);
		compare((struct call){ SYS_fstat, { 1ull << 32 | (uint32_t)file }, 1 }, n);
		compare((struct call){ SYS_newfstatat, { (uint64_t)dir, NAME("inner") }, 2 }, n);
		compare((struct call){ SYS_newfstatat, { (uint64_t)file, NAME("inner") }, 2 }, n);
		compare((struct call){ SYS_newfstatat, { (uint64_t)path, NAME(""), 0, AT_EMPTY_PATH },
				       2 }, n);
		compare((struct call){ SYS_newfstatat, { (uint64_t)dir, NAME("..") }, 2 }, n);
		compare((struct call){ SYS_fstat, { (uint64_t)file, 8 }, -1 }, n);
		compare((struct call){ SYS_stat, { NAME("file"), 8 }, -1 }, n);
		compare((struct call){ SYS_statx, { CWD, NAME("file"), 0, 0, ~0ull - 8 }, -1 }, n);
	}
	/* Operations before a close are executed before it, later ones after it. */
	for (unsigned int around = 0; around < 3; around++) {
		int copy = dup(file);

		for (unsigned int i = 0; i < around; i++)
			EQUAL(cosy_async_getpid(loop, NULL), 0);
		EQUAL(cosy_async_fstat(loop, &ops[0], copy, &st), 0);
		EQUAL(cosy_async_close(loop, &ops[1], copy), 0);
		EQUAL(cosy_async_fstat(loop, &ops[2], copy, &st), 0);
		EQUAL(cosy_loop_run(loop), 0);
		/* A thread that has to wait for it does not make it any more. */
		CHECK(ops[0].result == 0 || ops[0].result == -ECANCELED);
		EQUAL(ops[1].result, 0);
		EQUAL(ops[2].result, -EBADF);
	}
	close(dir);
	close(path);
	close(file);
}

/* Missing memory is not an error. A thread that may wait makes the call. */
static void memory(void)
{
	size_t size = 16 * 4096;
	char *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = open("names", O_CREAT | O_RDWR, 0600);
	char *name;

	CHECK(fresh != MAP_FAILED && file >= 0);
	for (unsigned int i = 0; i < 15; i++)
		EQUAL(cosy_async_stat(loop, &ops[i], "dir/inner",
				      (struct stat *)(fresh + (i + 1) * 4096 - 64)), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 15; i++) {
		struct stat st;

		EQUAL(ops[i].result, 0);
		memcpy(&st, fresh + (i + 1) * 4096 - 64, sizeof(st));
		EQUAL(st.st_mode, S_IFREG | 0755);
	}
	EQUAL(mprotect(fresh, size, PROT_READ), 0);
	EQUAL(cosy_async_stat(loop, &ops[0], "file", (struct stat *)fresh), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, -EFAULT);
	EQUAL(munmap(fresh, size), 0);

	EQUAL(write(file, "file", 5), 5);
	name = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	CHECK(name != MAP_FAILED);
	EQUAL(cosy_async_access(loop, &ops[0], name, F_OK), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, 0);
	EQUAL(munmap(name, 4096), 0);
	close(file);
}

/* With the module, no thread makes calls that need not wait. */
static void without_threads(void)
{
	struct cosy_loop_info before, after;
	struct stat st[3];

	for (unsigned int n = 1; n <= 3; n++) {
		memset(st, 0, sizeof(st));
		before = info_of(loop);
		for (unsigned int i = 0; i < n; i++)
			EQUAL(cosy_async_stat(loop, &ops[i], "dir/inner", &st[i]), 0);
		EQUAL(cosy_loop_run(loop), 0);
		after = info_of(loop);
		EQUAL(after.handed_over - before.handed_over, after.kernel ? 0 : n);
		for (unsigned int i = 0; i < n; i++)
			EQUAL(st[i].st_mode, S_IFREG | 0755);
	}
	before = info_of(loop);
	EQUAL(cosy_async_access(loop, &ops[0], "/proc/self/maps", F_OK), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(info_of(loop).handed_over - before.handed_over, 1);
}

static void cancelled(void)
{
	struct stat st[6];

	for (unsigned int n = 1; n <= 6; n++) {
		memset(st, 0, sizeof(st));
		for (unsigned int i = 0; i < n; i++)
			EQUAL(cosy_async_stat(loop, &ops[i], "file", &st[i]), 0);
		EQUAL(cosy_cancel(loop, &ops[n / 2]), 0);
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < n; i++) {
			EQUAL(ops[i].result, i == n / 2 ? -ECANCELED : 0);
			EQUAL(st[i].st_mode, i == n / 2 ? 0 : S_IFREG | 0640);
		}
	}
	/* A loop that is destroyed does not execute remaining operations. */
	struct cosy_loop *other = make_loop();

	memset(st, 0, sizeof(st));
	EQUAL(cosy_async_stat(other, &ops[0], "file", &st[0]), 0);
	EQUAL(cosy_wait(other, 1, NULL), 1);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_stat(other, &ops[i], "file", &st[1 + i]), 0);
	EQUAL(cosy_loop_destroy(other), 0);
	for (unsigned int i = 0; i < 4; i++) {
		EQUAL(ops[i].result, -ECANCELED);
		EQUAL(st[1 + i].st_mode, 0);
	}
}

/* Together with calls that wait, and calls that never do. */
static void mixed(void)
{
	struct stat st[8];
	int fds[2];
	char c;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	memset(st, 0, sizeof(st));
	EQUAL(cosy_async_recv(loop, &ops[0], fds[0], &c, 1, 0), 0);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(cosy_async_lstat(loop, &ops[1 + i], i % 2 ? "none" : "link", &st[i]), 0);
	EQUAL(cosy_async_getppid(loop, &ops[5]), 0);
	EQUAL(cosy_async_fsync(loop, &ops[6], fds[0]), 0);
	for (unsigned int i = 4; i < 8; i++)
		EQUAL(cosy_async_lstat(loop, &ops[3 + i], "link", &st[i]), 0);
	EQUAL(cosy_async_send(loop, &ops[11], fds[1], "x", 1, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, 1);
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(ops[1 + i].result, i % 2 ? -ENOENT : 0);
	EQUAL(ops[5].result, getppid());
	EQUAL(ops[6].result, -EINVAL);
	for (unsigned int i = 4; i < 8; i++) {
		EQUAL(ops[3 + i].result, 0);
		EQUAL(S_ISLNK(st[i].st_mode), 1);
	}
	EQUAL(ops[11].result, 1);
	/* Without an operation. */
	for (unsigned int i = 0; i < 5000; i++)
		if (cosy_async_stat(loop, NULL, "file", &st[0]))
			EQUAL(cosy_wait(loop, 0, NULL), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(st[0].st_mode, S_IFREG | 0640);
}

static void filtered(void)
{
	struct stat st;

	forbid(SYS_stat, 77, SECCOMP_FILTER_FLAG_TSYNC);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 4; i++)
			EQUAL(cosy_async_call(loop, &ops[i], i % 2 ? SYS_stat : SYS_lstat,
					      NAME("file"), NAME(&st), 0, 0, 0, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		for (unsigned int i = 0; i < 4; i++)
			EQUAL(ops[i].result, i % 2 ? -77 : 0);
	}
}

/* On a file system without a server. */
static void enter_directory(char *name)
{
	CHECK(mkdtemp(name));
	EQUAL(chdir(name), 0);
}

int main(void)
{
	char directory[] = "/tmp/cosy-nowait-XXXXXX", command[64];

	enter_directory(directory);
	loop = make_loop();
	names();
	descriptors();
	memory();
	without_threads();
	cancelled();
	mixed();
	filtered();
	EQUAL(cosy_loop_destroy(loop), 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}
