/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Cancelling: each operation completes once, in any state. No operation keeps a closed file open.
 * Results without an operation are discarded.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "loop.h"

#define MANY 100000

static struct cosy_loop *loop;
static unsigned int called;

static void cancelled(struct cosy_async *op)
{
	EQUAL(op->result, -ECANCELED);
	called++;
}

static void one(void)
{
	struct cosy_async first = { 0 }, second = { 0 }, timer = { 0 };
	struct cosy_async signal = { 0 }, submitted = { 0 };
	const struct timespec hour = { .tv_sec = 3600 };
	char a = 0, b = 0;
	sigset_t set;
	int fds[2];

	EQUAL(pipe(fds), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	EQUAL(cosy_async_read(loop, &first, fds[0], &a, 1), 0);
	EQUAL(cosy_async_read(loop, &second, fds[0], &b, 1), 0);
	EQUAL(cosy_async_timer(loop, &timer, &hour, 0), 0);
	EQUAL(cosy_async_signal(loop, &signal, &set, NULL), 0);
	execute(loop);
	EQUAL(cosy_async_getpid(loop, &submitted), 0);

	EQUAL(cosy_cancel(loop, &submitted), 0);
	EQUAL(cosy_cancel(loop, &timer), 0);
	EQUAL(cosy_cancel(loop, &signal), 0);
	EQUAL(cosy_cancel(loop, &first), 0);
	EQUAL(cosy_cancel(loop, &first), -ENOENT);
	EQUAL(result_of(loop, &first), -ECANCELED);
	EQUAL(result_of(loop, &timer), -ECANCELED);
	EQUAL(result_of(loop, &signal), -ECANCELED);
	EQUAL(result_of(loop, &submitted), -ECANCELED);
	EQUAL(cosy_cancel(loop, &first), -ENOENT);
	/* The operation after it is next. */
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &second), 1);
	EQUAL(a, 0);
	EQUAL(b, 'x');
	close(fds[0]);
	close(fds[1]);
}

/* The result is the number of bytes transferred before. */
static void partly(void)
{
	char *bytes = calloc(1, 4 << 20);
	struct cosy_async writer = { 0 };
	int fds[2], size, written = 0;
	bool by_thread;

	EQUAL(pipe(fds), 0);
	by_thread = !has_nowait(fds[0]);
	size = fcntl(fds[1], F_GETPIPE_SZ);
	EQUAL(cosy_async_write(loop, &writer, fds[1], bytes, 4 << 20), 0);
	do {
		execute(loop);
		EQUAL(ioctl(fds[0], FIONREAD, &written), 0);
	} while (written < size);
	EQUAL(cosy_cancel(loop, &writer), by_thread ? -EALREADY : 0);
	/* Outside the module, a thread is not interrupted: this ends its call, with SIGPIPE. */
	if (by_thread)
		close(fds[0]);
	EQUAL(result_of(loop, &writer), size);
	EQUAL(cosy_cancel_fd(loop, fds[1]), 0);
	if (!by_thread)
		close(fds[0]);
	close(fds[1]);
	free(bytes);
}

static void descriptor(void)
{
	struct cosy_async ops[5], fresh = { 0 }, other = { 0 };
	struct pollfd poll;
	char bytes[5];
	int fds[2], again[2];

	for (int i = 0; i < 5; i++)
		ops[i] = (struct cosy_async){ .done = cancelled };
	called = 0;
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	poll = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	EQUAL(cosy_async_recv(loop, &ops[0], fds[0], &bytes[0], 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &ops[1], fds[0], &bytes[1], 1, 0), 0);
	EQUAL(cosy_async_poll(loop, &ops[2], &poll, 1, -1), 0);
	execute(loop);
	EQUAL(cosy_async_recv(loop, &ops[3], fds[0], &bytes[3], 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &other, fds[1], &bytes[3], 1, 0), 0);
	EQUAL(cosy_cancel_fd(loop, fds[0]), 4);
	EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
	EQUAL(cosy_cancel_fd(loop, -1), 0);

	/* close() cancels operations that were submitted before it, and the peer sees the end. */
	EQUAL(cosy_async_recv(loop, &ops[4], fds[0], &bytes[4], 1, 0), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[0]), 0);
	EQUAL(result_of(loop, &other), 0);
	EQUAL(called, 5);
	close(fds[1]);
	EQUAL(cosy_cancel_fd(loop, fds[1]), 0);

	/* The next file with that number is another one. */
	EQUAL(pipe(again), 0);
	CHECK(again[0] == fds[0] || again[0] == fds[1]);
	EQUAL(cosy_async_read(loop, &fresh, again[0], bytes, 1), 0);
	execute(loop);
	EQUAL(write(again[1], "y", 1), 1);
	EQUAL(result_of(loop, &fresh), 1);

	/* Calls that close other descriptors do the same. */
	EQUAL(cosy_async_read(loop, &fresh, again[0], bytes, 1), 0);
	execute(loop);
	EQUAL(cosy_async_dup2(loop, &other, 0, again[0]), 0);
	EQUAL(result_of(loop, &fresh), -ECANCELED);
	EQUAL(result_of(loop, &other), again[0]);
	close(again[0]);
	close(again[1]);
	EQUAL(cosy_cancel_fd(loop, again[0]), 0);
}

/*
 * A thread makes the call, and the loop must not be freed meanwhile. Only a thread in the module
 * is interrupted.
 */
/* Fill a socket, and let a send of one more byte wait. */
static void let_send_wait(struct cosy_async *op, int fd)
{
	static char byte;

	while (send(fd, &byte, 1, MSG_DONTWAIT) == 1)
		;
	EQUAL(cosy_async_send(loop, op, fd, &byte, 1, 0), 0);
}

/*
 * What is cancelled alone, and then with its descriptor, completes once: receives and sends that wait,
 * and those that were not begun.
 */
static void twice(void)
{
	struct cosy_async ops[2] = { { .done = cancelled }, { .done = cancelled } };
	char byte;
	int fds[2];

	for (int i = 0; i < 8; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		EQUAL(cosy_async_recv(loop, &ops[0], fds[0], &byte, 1, 0), 0);
		let_send_wait(&ops[1], fds[0]);
		if (i & 1)
			execute(loop);
		called = 0;
		EQUAL(cosy_cancel(loop, &ops[0]), 0);
		EQUAL(cosy_cancel(loop, &ops[1]), 0);
		if (i & 2)
			EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
		else if (i & 4)
			EQUAL(cosy_async_call(loop, NULL, SYS_close_range, (unsigned int)fds[0],
					      (unsigned int)fds[0] + 1, 0, 0, 0, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(called, 2);
		close(fds[0]);
		close(fds[1]);
	}
}

static void blocked(void)
{
	struct cosy_async lock = { 0 };
	struct cosy_loop_info info;
	struct cosy_loop *other = make_loop();
	uint64_t handed_over;
	int fd = open("/tmp/async-lock", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-lock", O_RDWR);

	CHECK(fd >= 0 && holder >= 0);
	EQUAL(flock(holder, LOCK_EX), 0);
	EQUAL(cosy_async_flock(other, &lock, fd, LOCK_EX), 0);
	do {
		execute(other);
		EQUAL(cosy_loop_info(other, &info, sizeof(info)), 0);
	} while (!info.handed_over);
	EQUAL(cosy_loop_destroy(other), -EBUSY);
	EQUAL(cosy_cancel(other, &lock), -EALREADY);
	if (info.kernel) {
		EQUAL(result_of(other, &lock), -ECANCELED);
		EQUAL(cosy_async_flock(other, &lock, fd, LOCK_EX), 0);
		execute(other);
	}
	EQUAL(flock(holder, LOCK_UN), 0);
	EQUAL(result_of(other, &lock), 0);
	EQUAL(cosy_loop_destroy(other), 0);
	/* Unlocking needs no thread. */
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	handed_over = info.handed_over;
	EQUAL(cosy_async_flock(loop, &lock, fd, LOCK_UN), 0);
	EQUAL(result_of(loop, &lock), 0);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.handed_over, handed_over);
	close(fd);
	close(holder);
	unlink("/tmp/async-lock");
}

/* A thread continues a call on a closed descriptor. The next file of that number is another one. */
static void closed(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct cosy_async connects = { 0 }, closes = { 0 }, sends = { 0 };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd, fds[2];
	socklen_t size = sizeof(sa_family_t);
	struct cosy_loop_info info;
	char byte;

	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 0), 0);
	size = sizeof(name);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	EQUAL(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, size), 0);
	/* No process accepts connections, and there is no room for another one. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	EQUAL(cosy_async_connect(loop, &connects, fd, &name, size), 0);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	for (uint64_t before = info.handed_over; info.handed_over == before;) {
		execute(loop);
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	}
	EQUAL(cosy_async_close(loop, &closes, fd), 0);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(fds[0], fd);
	EQUAL(cosy_async_send(loop, &sends, fd, "x", 1, 0), 0);
	EQUAL(cosy_wait_for(loop, &sends, &(struct timespec){ .tv_sec = 600 }), 0);
	EQUAL(recv(fds[1], &byte, 1, MSG_DONTWAIT), 1);
	CHECK(cosy_async_pending(&connects));
	close(listener);
	EQUAL(result_of(loop, &connects), -ECONNREFUSED);
	EQUAL(cosy_async_close(loop, &closes, fd), 0);
	EQUAL(result_of(loop, &closes), 0);
	close(fds[1]);
}

/* The operation after it waits for a thread, too: its file can neither be polled nor attempted. */
static void next_for_thread(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	struct cosy_async lock = { 0 }, first = { 0 }, second = { 0 };
	int fd = open("/tmp/async-lock", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-lock", O_RDWR);
	int file = open("/dev/full", O_RDONLY);
	struct cosy_loop *other;
	char a, b = 1;

	CHECK(fd >= 0 && holder >= 0 && file >= 0);
	EQUAL(cosy_loop_create(&other, &options), 0);
	EQUAL(flock(holder, LOCK_EX), 0);
	EQUAL(cosy_async_flock(other, &lock, fd, LOCK_EX), 0);
	execute(other);
	EQUAL(cosy_async_read(other, &first, file, &a, 1), 0);
	EQUAL(cosy_async_read(other, &second, file, &b, 1), 0);
	execute(other);
	EQUAL(cosy_cancel(other, &first), 0);
	EQUAL(result_of(other, &first), -ECANCELED);
	EQUAL(flock(holder, LOCK_UN), 0);
	EQUAL(result_of(other, &lock), 0);
	EQUAL(result_of(other, &second), 1);
	EQUAL(b, 0);
	EQUAL(cosy_loop_destroy(other), 0);
	close(file);
	close(fd);
	close(holder);
	unlink("/tmp/async-lock");
}

static void many(void)
{
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = MANY };
	struct cosy_async *ops = calloc(MANY, sizeof(*ops));
	struct cosy_loop *large;
	struct cosy_loop_info info;
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_loop_create(&large, &options), 0);
	for (int i = 0; i < MANY; i++) {
		ops[i].done = cancelled;
		EQUAL(cosy_async_read(large, &ops[i], fds[0], &byte, 1), 0);
	}
	execute(large);
	EQUAL(cosy_loop_info(large, &info, sizeof(info)), 0);
	EQUAL(info.waiting, MANY);
	called = 0;
	for (int i = 0; i < MANY / 2; i++)
		EQUAL(cosy_cancel(large, &ops[i * 2]), 0);
	EQUAL(cosy_cancel_fd(large, fds[0]), MANY / 2);
	EQUAL(cosy_loop_run(large), 0);
	EQUAL(called, MANY);
	for (int i = 0; i < MANY; i++)
		EQUAL(cosy_async_read(large, &ops[i], fds[0], &byte, 1), 0);
	execute(large);
	EQUAL(cosy_loop_destroy(large), 0);
	EQUAL(called, 2 * MANY);
	free(ops);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	loop = make_loop();
	one();
	partly();
	descriptor();
	twice();
	blocked();
	closed();
	next_for_thread();
	many();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
