/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations that open files for reading, and read them, have the result of the call. With the module, no
 * thread makes them if all is in the kernel's caches. Opens that wait, for the other end of a FIFO or for
 * the holder of a lease, do not delay other operations.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <cosy/task.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "filter.h"
#include "loop.h"

#define BATCH 70
#define SIZE 10001

static struct cosy_loop *loop;
static struct cosy_async ops[BATCH];
static unsigned char content[SIZE], got[BATCH][2 * SIZE];

static uint64_t handed_over(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.handed_over;
}

static bool has_module(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel;
}

/* Both descriptors are of the same file, opened in the same way. */
static void same_file(int a, int b)
{
	struct stat one, two;

	EQUAL(fstat(a, &one), 0);
	EQUAL(fstat(b, &two), 0);
	EQUAL(one.st_ino, two.st_ino);
	EQUAL(one.st_dev, two.st_dev);
	EQUAL(fcntl(a, F_GETFL), fcntl(b, F_GETFL));
	EQUAL(fcntl(a, F_GETFD), fcntl(b, F_GETFD));
}

/* Open natively, and @n times as operations. */
static void compare(int dir, const char *name, int flags, unsigned int n)
{
	int native = (int)syscall(SYS_openat, dir, name, flags, 0600), error = errno;

	for (unsigned int i = 0; i < n; i++) {
		if (dir == AT_FDCWD && i % 2)
			EQUAL(cosy_async_call(loop, &ops[i], SYS_open, (uintptr_t)name,
					      (uint64_t)flags, 0600, 0, 0, 0), 0);
		else
			EQUAL(cosy_async_call(loop, &ops[i], SYS_openat, (uint64_t)dir,
					      (uintptr_t)name, (uint64_t)flags, 0600, 0, 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < n; i++) {
		if (native < 0) {
			EQUAL(ops[i].result, -error);
			continue;
		}
		CHECK(ops[i].result >= 0);
		same_file(native, (int)ops[i].result);
		close((int)ops[i].result);
		cosy_cancel_fd(loop, (int)ops[i].result);
	}
	if (native >= 0)
		close(native);
}

static void opens(void)
{
	static const char *const names[] = {
		"file", "./file", "dir", "dir/", "dir/inner", "link", "dangling", "loop", "none",
		"file/none", "", ".", "dir/..", "/", "/dev/null", "/proc/self/status", "secret",
	};
	static const int flags[] = {
		O_RDONLY, O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY | O_LARGEFILE,
		O_PATH, O_WRONLY, O_RDWR | O_APPEND, O_RDONLY | O_SYNC, O_NOATIME, 1 << 30,
		O_RDONLY | O_CREAT | O_EXCL, O_DIRECTORY | O_CREAT, O_ACCMODE,
	};
	int dir = open("dir", O_PATH | O_DIRECTORY);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t j = 0; j < sizeof(flags) / sizeof(*flags); j++)
			if (!(flags[j] & O_CREAT) || !access(names[i], F_OK))
				compare(AT_FDCWD, names[i], flags[j], 1 + (unsigned int)(i + j) % 4);
	compare(dir, "inner", O_RDONLY, 3);
	compare(dir, "../file", O_RDONLY | O_CLOEXEC, 3);
	compare(4000, "file", O_RDONLY, 3);
	compare(4000, "/etc/passwd", O_RDONLY, 2);
	compare(AT_FDCWD, "file", O_RDONLY, BATCH);
	compare(AT_FDCWD, (const char *)8, O_RDONLY, 2);
	close(dir);
	/* Created, and emptied. */
	EQUAL(cosy_async_open(loop, &ops[0], "made", O_CREAT | O_RDWR | O_TRUNC, 0640), 0);
	EQUAL(cosy_loop_run(loop), 0);
	CHECK(ops[0].result >= 0);
	close((int)ops[0].result);
	cosy_cancel_fd(loop, (int)ops[0].result);
	EQUAL(unlink("made"), 0);
}

/* The process has no free descriptor. */
static void too_many(void)
{
	struct rlimit limit, none;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	EQUAL(cosy_async_open(loop, &ops[0], "file", O_RDONLY, 0), 0);
	EQUAL(cosy_async_open(loop, &ops[1], "none", O_RDONLY, 0), 0);
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(ops[0].result, -EMFILE);
	EQUAL(ops[1].result, -EMFILE);
}

static void without_a_thread(void)
{
	uint64_t before = handed_over();
	struct stat st;
	int fd;

	/* Memory that is not present takes a thread. */
	memset(got, 1, sizeof(got));
	for (unsigned int i = 0; i < 20; i++) {
		EQUAL(cosy_async_open(loop, &ops[0], "dir/inner", O_RDONLY, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		fd = (int)ops[0].result;
		CHECK(fd >= 0);
		EQUAL(cosy_async_fstat(loop, &ops[0], fd, &st), 0);
		EQUAL(cosy_async_pread(loop, &ops[1], fd, got[0], SIZE, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(cosy_async_close(loop, &ops[2], fd), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(ops[0].result, 0);
		EQUAL(ops[1].result, SIZE);
		EQUAL(ops[2].result, 0);
	}
	if (has_module())
		EQUAL(handed_over(), before);
}

/* Compare with the bytes of the file from @at on. */
static void check_read(struct cosy_async *op, const unsigned char *bytes, size_t size, off_t at)
{
	size_t expected = at >= SIZE ? 0 : at + (off_t)size > SIZE ? (size_t)(SIZE - at) : size;

	EQUAL(op->result, (int64_t)expected);
	EQUAL(memcmp(bytes, content + at, expected), 0);
}

static void reads(int fd)
{
	static const size_t sizes[] = { 1, 100, 4096, 5000, SIZE, 2 * SIZE };
	static const off_t places[] = { 0, 1, 4095, 4096, SIZE - 1, SIZE, SIZE + 5 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t j = 0; j < sizeof(places) / sizeof(*places); j++) {
			EQUAL(cosy_async_pread(loop, &ops[0], fd, got[0], sizes[i], places[j]), 0);
			EQUAL(cosy_loop_run(loop), 0);
			if (places[j] < SIZE)
				check_read(&ops[0], got[0], sizes[i], places[j]);
			else
				EQUAL(ops[0].result, 0);
		}
	/* At the position, in order, up to the end and again there. */
	EQUAL(lseek(fd, 0, SEEK_SET), 0);
	for (unsigned int i = 0; i < BATCH; i++)
		EQUAL(cosy_async_read(loop, &ops[i], fd, got[i], 200), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < BATCH; i++)
		check_read(&ops[i], got[i], 200, (off_t)i * 200);
	EQUAL(lseek(fd, 0, SEEK_CUR), SIZE);
	EQUAL(cosy_async_pread(loop, &ops[0], fd, got[0], 10, -1), 0);
	EQUAL(cosy_async_pread(loop, &ops[1], fd, got[0], 0, 0), 0);
	EQUAL(cosy_async_pread(loop, &ops[2], fd, (void *)8, 10, 0), 0);
	EQUAL(cosy_async_pread(loop, &ops[3], -1, got[0], 10, 0), 0);
	EQUAL(cosy_async_read(loop, &ops[4], fd, got[0], 10), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, -EINVAL);
	EQUAL(ops[1].result, 0);
	EQUAL(ops[2].result, -EFAULT);
	EQUAL(ops[3].result, -EBADF);
	EQUAL(ops[4].result, 0);
}

static void wrong_reads(void)
{
	int fds[2], dir = open("dir", O_RDONLY), only_written = open("file", O_WRONLY);

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_pread(loop, &ops[0], dir, got[0], 10, 0), 0);
	EQUAL(cosy_async_pread(loop, &ops[1], only_written, got[0], 10, 0), 0);
	EQUAL(cosy_async_pread(loop, &ops[2], fds[0], got[0], 10, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, -EISDIR);
	EQUAL(ops[1].result, -EBADF);
	EQUAL(ops[2].result, -ESPIPE);
	close(dir);
	close(only_written);
	close(fds[0]);
	close(fds[1]);
	for (int fd = 3; fd < 40; fd++)
		cosy_cancel_fd(loop, fd);
}

/* Everything that a server of files does for a request. Return 0, or the line of the failure. */
COSY_ASYNC static long serve(unsigned int times, unsigned char *buffer)
{
	struct stat st;
	ssize_t n;
	int fd;

	while (times--) {
		fd = open("file", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return __LINE__;
		if (fstat(fd, &st) || st.st_size != SIZE)
			return __LINE__;
		for (off_t at = 0; (n = read(fd, buffer, 3000)) > 0; at += n)
			if (memcmp(buffer, content + at, (size_t)n))
				return __LINE__;
		if (n || close(fd))
			return __LINE__;
	}
	return 0;
}

/* The same descriptor is a file, then a socket, then a file. */
COSY_ASYNC static long changes(unsigned int times)
{
	char byte = 0;
	int fd, pair[2];

	while (times--) {
		fd = open("file", O_RDONLY);
		if (fd < 0 || read(fd, &byte, 1) != 1 || (unsigned char)byte != content[0])
			return __LINE__;
		close(fd);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			return __LINE__;
		if (send(pair[1], "x", 1, 0) != 1 || read(pair[0], &byte, 1) != 1 || byte != 'x')
			return __LINE__;
		close(pair[0]);
		close(pair[1]);
	}
	return 0;
}

static void functions(void)
{
	uint64_t before = handed_over();

	for (unsigned int i = 0; i < BATCH; i++)
		EQUAL(COSY_SPAWN(loop, serve(20, got[i]), .op = &ops[i]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < BATCH; i++)
		EQUAL(ops[i].result, 0);
	if (has_module())
		EQUAL(handed_over(), before);
	for (unsigned int i = 0; i < 5; i++)
		EQUAL(COSY_SPAWN(loop, changes(50), .op = &ops[i]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 5; i++)
		EQUAL(ops[i].result, 0);
}

/* Open a file, wait for a lock on it by an operation, and close it meanwhile. */
COSY_ASYNC static long close_while_locking(struct cosy_loop *own, struct cosy_async *lock)
{
	int fd = open("file", O_RDONLY);

	if (fd < 0)
		return __LINE__;
	if (cosy_async_call(own, lock, SYS_flock, (uint64_t)fd, LOCK_EX, 0, 0, 0, 0))
		return __LINE__;
	return close(fd) ? __LINE__ : 0;
}

/* A close ends the calls on the file that no thread has begun. */
static void close_ends_what_is_queued(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	int held = open("file", O_RDONLY), waits = open("file", O_RDONLY);
	struct cosy_loop *own;

	EQUAL(flock(held, LOCK_EX), 0);
	EQUAL(cosy_loop_create(&own, &options), 0);
	/* The only thread waits. */
	EQUAL(cosy_async_call(own, &ops[0], SYS_flock, (uint64_t)waits, LOCK_EX, 0, 0, 0, 0), 0);
	EQUAL(cosy_wait(own, 0, NULL), 0);
	for (unsigned int i = 0; i < 3; i++) {
		EQUAL(COSY_SPAWN(own, close_while_locking(own, &ops[1]), .op = &ops[2]), 0);
		EQUAL(result_of(own, &ops[2]), 0);
		EQUAL(result_of(own, &ops[1]), -ECANCELED);
	}
	EQUAL(flock(held, LOCK_UN), 0);
	EQUAL(result_of(own, &ops[0]), 0);
	EQUAL(cosy_loop_destroy(own), 0);
	close(held);
	close(waits);
}

/* An open that waits is no reason for others to wait. */
static void opens_that_wait(void)
{
	int status, fd, ready[2];
	pid_t child;
	char c;

	EQUAL(mkfifo("pipe", 0600), 0);
	EQUAL(cosy_async_open(loop, &ops[0], "pipe", O_RDONLY, 0), 0);
	EQUAL(cosy_async_open(loop, &ops[1], "file", O_RDONLY, 0), 0);
	EQUAL(cosy_wait_for(loop, &ops[1], NULL), 0);
	CHECK(ops[1].result >= 0 && cosy_async_pending(&ops[0]));
	close((int)ops[1].result);
	fd = open("pipe", O_WRONLY);
	CHECK(fd >= 0);
	EQUAL(result_of(loop, &ops[0]) >= 0, 1);
	close((int)ops[0].result);
	close(fd);
	EQUAL(unlink("pipe"), 0);

	/* A child has a lease, and releases it when it is asked to. */
	EQUAL(pipe(ready), 0);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		sigset_t set;
		int signal;

		sigemptyset(&set);
		sigaddset(&set, SIGIO);
		sigprocmask(SIG_BLOCK, &set, NULL);
		fd = open("file", O_RDWR);
		c = fcntl(fd, F_SETLEASE, F_WRLCK) ? 'n' : 'y';
		if (write(ready[1], &c, 1) != 1 || c == 'n')
			_exit(1);
		sigwait(&set, &signal);
		usleep(20000);
		_exit(0);
	}
	EQUAL(read(ready[0], &c, 1), 1);
	EQUAL(cosy_async_open(loop, &ops[0], "file", O_RDONLY | O_NONBLOCK, 0), 0);
	EQUAL(result_of(loop, &ops[0]), c == 'y' ? -EWOULDBLOCK : ops[0].result);
	EQUAL(cosy_async_open(loop, &ops[0], "file", O_RDONLY, 0), 0);
	EQUAL(cosy_async_open(loop, &ops[1], "dir/inner", O_RDONLY, 0), 0);
	EQUAL(cosy_wait_for(loop, &ops[1], NULL), 0);
	CHECK(ops[1].result >= 0);
	close((int)ops[1].result);
	CHECK(result_of(loop, &ops[0]) >= 0);
	close((int)ops[0].result);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, c == 'y' ? 0 : 1 << 8);
	close(ready[0]);
	close(ready[1]);
	for (fd = 3; fd < 40; fd++)
		cosy_cancel_fd(loop, fd);
}

/* A child sees that opens are refused. */
static void filtered(void)
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		loop = make_loop();
		compare(AT_FDCWD, "file", O_RDONLY, 3);
		forbid(SYS_openat, 77, SECCOMP_FILTER_FLAG_TSYNC);
		compare(AT_FDCWD, "file", O_RDONLY | O_NOFOLLOW, 1);
		EQUAL(cosy_async_openat(loop, &ops[0], AT_FDCWD, "file", O_RDONLY, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(ops[0].result, -77);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

int main(void)
{
	char directory[] = "/tmp/cosy-open-XXXXXX", command[64];
	int fd;

	for (size_t i = 0; i < SIZE; i++)
		content[i] = (unsigned char)(i * 13 + i / 256);
	CHECK(mkdtemp(directory));
	EQUAL(chdir(directory), 0);
	EQUAL(mkdir("dir", 0755), 0);
	EQUAL(symlink("dir/inner", "link") | symlink("nowhere", "dangling") | symlink("loop", "loop"), 0);
	close(open("secret", O_CREAT | O_WRONLY, 0));
	for (int i = 0; i < 2; i++) {
		fd = open(i ? "file" : "dir/inner", O_CREAT | O_WRONLY, 0644);
		EQUAL(write(fd, content, SIZE), SIZE);
		close(fd);
	}
	loop = make_loop();
	opens();
	too_many();
	without_a_thread();
	fd = open("file", O_RDONLY);
	reads(fd);
	close(fd);
	cosy_cancel_fd(loop, fd);
	wrong_reads();
	functions();
	close_ends_what_is_queued();
	opens_that_wait();
	filtered();
	EQUAL(cosy_loop_destroy(loop), 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}
