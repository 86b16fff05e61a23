/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files on disks. A read is as long as natively, whatever part is cached. Calls that use the
 * position keep their order. Signals of calls that threads make are delivered, and so are their
 * results.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "loop.h"

#define SIZE (1u << 20)
#define PIECES 64

static struct cosy_loop *loop;
static char bytes[SIZE], copy[SIZE];

static void pieces(int fd)
{
	struct cosy_async ops[PIECES] = { 0 };
	unsigned int piece = SIZE / PIECES;

	/* By the position: in their order, although all are submitted together. */
	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(cosy_async_write(loop, &ops[i], fd, bytes + i * piece,
				       piece), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(ops[i].result, piece);
	EQUAL(lseek(fd, 0, SEEK_SET), 0);
	posix_fadvise(fd, 0, SIZE / 2, POSIX_FADV_DONTNEED);
	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(cosy_async_read(loop, &ops[i], fd, copy + i * piece,
				      piece), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(memcmp(bytes, copy, SIZE), 0);

	/* By offsets: in any order. */
	memset(copy, 0, SIZE);
	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(cosy_async_pread(loop, &ops[i], fd, copy + i * piece,
				       piece, i * piece), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(memcmp(bytes, copy, SIZE), 0);
	EQUAL(cosy_async_pread(loop, &ops[0], fd, copy, 1, -1), 0);
	EQUAL(result_of(loop, &ops[0]), -EINVAL);
}

/* Half of it is cached. */
static void whole(int fd)
{
	struct cosy_async op = { 0 };
	struct iovec iov[2] = { { copy, SIZE / 2 }, { copy + SIZE / 2, SIZE } };

	EQUAL(fsync(fd), 0);
	posix_fadvise(fd, SIZE / 2, SIZE / 2, POSIX_FADV_DONTNEED);
	memset(copy, 0, SIZE);
	EQUAL(cosy_async_pread(loop, &op, fd, copy, SIZE, 0), 0);
	EQUAL(result_of(loop, &op), SIZE);
	EQUAL(memcmp(bytes, copy, SIZE), 0);
	EQUAL(cosy_async_pread(loop, &op, fd, copy, SIZE, 100), 0);
	EQUAL(result_of(loop, &op), SIZE - 100);
	posix_fadvise(fd, 0, SIZE / 2, POSIX_FADV_DONTNEED);
	EQUAL(cosy_async_preadv(loop, &op, fd, iov, 2, 0), 0);
	EQUAL(result_of(loop, &op), SIZE);
	EQUAL(lseek(fd, SIZE - 10, SEEK_SET), SIZE - 10);
	EQUAL(cosy_async_read(loop, &op, fd, copy, 100), 0);
	EQUAL(result_of(loop, &op), 10);
	EQUAL(lseek(fd, 0, SEEK_CUR), SIZE);
	EQUAL(cosy_async_read(loop, &op, fd, copy, 100), 0);
	EQUAL(result_of(loop, &op), 0);
}

static void names(void)
{
	struct cosy_async op = { 0 };
	struct stat st;

	EQUAL(cosy_async_mkdir(loop, &op, "directory", 0700), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_mkdir(loop, &op, "directory", 0700), 0);
	EQUAL(result_of(loop, &op), -EEXIST);
	EQUAL(cosy_async_stat(loop, &op, "directory", &st), 0);
	EQUAL(result_of(loop, &op), 0);
	CHECK(S_ISDIR(st.st_mode));
	EQUAL(cosy_async_rmdir(loop, &op, "directory"), 0);
	EQUAL(result_of(loop, &op), 0);
}

static volatile sig_atomic_t signalled;

static void handler(int nr)
{
	signalled = nr;
}

/* The handler runs at the latest when this thread returns from a system call. */
static int signal_seen(void)
{
	int nr;

	sched_yield();
	nr = signalled;
	signalled = 0;
	return nr;
}

static void signals(int fd)
{
	const struct sigaction action = { .sa_handler = handler };
	struct rlimit limit;
	struct cosy_async op = { 0 };
	int fds[2];

	EQUAL(sigaction(SIGPIPE, &action, NULL), 0);
	EQUAL(sigaction(SIGXFSZ, &action, NULL), 0);
	EQUAL(pipe(fds), 0);
	close(fds[0]);
	EQUAL(cosy_async_write(loop, &op, fds[1], "x", 1), 0);
	EQUAL(result_of(loop, &op), -EPIPE);
	EQUAL(signal_seen(), SIGPIPE);
	close(fds[1]);
	EQUAL(cosy_cancel_fd(loop, fds[1]), 0);

	EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = SIZE;
	EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	EQUAL(cosy_async_pwrite(loop, &op, fd, "x", 1, SIZE), 0);
	EQUAL(result_of(loop, &op), -EFBIG);
	EQUAL(signal_seen(), SIGXFSZ);
}

static struct cosy_loop_info info(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info;
}

static uint64_t handed_over_before;

/*
 * Return when a thread has begun both writes. With the module, the second one begins after this callback:
 * the thread that waits gives it to the module.
 */
static void long_callback(struct cosy_async *op)
{
	(void)op;
	while (!info().kernel && info().handed_over < handed_over_before + 2)
		usleep(1000);
}

/*
 * The thread that has made the first write begins the second one, while this thread is in a
 * callback.
 */
static void chained(int fd)
{
	const struct timespec limit = { .tv_sec = 60 };
	struct cosy_async first = { 0 }, second = { 0 }, other = { .done = long_callback };

	EQUAL(lseek(fd, SIZE, SEEK_SET), SIZE);
	handed_over_before = info().handed_over;
	EQUAL(cosy_async_write(loop, &first, fd, "x", 1), 0);
	EQUAL(cosy_async_write(loop, &second, fd, "x", 1), 0);
	EQUAL(cosy_async_getpid(loop, &other), 0);
	EQUAL(cosy_wait_for(loop, &second, &limit), 0);
	EQUAL(first.result, -EFBIG);
	EQUAL(second.result, -EFBIG);
	EQUAL(signal_seen(), SIGXFSZ);
}

static bool synced;
static time_t end;

static void again(struct cosy_async *op)
{
	if (!synced && time(NULL) < end)
		EQUAL(cosy_async_getpid(loop, op), 0);
}

static void on_sync(struct cosy_async *op)
{
	EQUAL(op->result, 0);
	synced = true;
}

/* A thread that always has operations to deliver also learns of those that others have made. */
static void beside(int fd)
{
	struct cosy_async busy = { .done = again }, sync = { .done = on_sync };

	end = time(NULL) + 600;
	EQUAL(cosy_async_getpid(loop, &busy), 0);
	EQUAL(cosy_async_fsync(loop, &sync, fd), 0);
	EQUAL(cosy_loop_run(loop), 0);
	CHECK(time(NULL) < end);
}

int main(void)
{
	char name[] = "/var/tmp/async-XXXXXX";
	int fd;

	for (unsigned int i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 31 + i / 4096);
	CHECK(mkdtemp(name));
	EQUAL(chdir(name), 0);
	loop = make_loop();
	fd = open("file", O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	pieces(fd);
	whole(fd);
	names();
	signals(fd);
	chained(fd);
	beside(fd);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(unlink("file"), 0);
	EQUAL(rmdir(name), 0);
	return 0;
}
