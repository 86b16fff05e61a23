/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * read() and write() of pipes and eventfds in COSY_ASYNC functions. The module waits for them, and
 * they have the effect of a blocking thread's calls.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "functions.h"

enum { LARGE = 1 << 20 };

static char out[LARGE], in[LARGE];

static void open_pipe(int fds[2])
{
	EQUAL(pipe(fds), 0);
}

/* Execute until a pipe contains that many bytes. With threads, it is not enough to execute for a time. */
static void execute_until(int fd, int bytes)
{
	int there = 0;

	do {
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		EQUAL(ioctl(fd, FIONREAD, &there), 0);
	} while (there < bytes);
}

static void close_both(const int fds[2])
{
	close_fd(fds[0]);
	close_fd(fds[1]);
}

/* The same as attempts(), if the kernel can wait for pipes. */
static uint64_t attempts_on_pipes(void)
{
	bool waits;
	int fds[2];

	open_pipe(fds);
	waits = has_nowait(fds[0]);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
	return waits ? attempts() : 0;
}

/* One stage of a pipeline. */
COSY_ASYNC static long upper(int from, int to)
{
	char buffer[64];
	long sum = 0;
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (buffer[i] >= 'a' && buffer[i] <= 'z')
				buffer[i] -= 'a' - 'A';
		if (write(to, buffer, (size_t)n) != n)
			return -errno;
		sum += n;
	}
	close(to);
	return n < 0 ? -errno : sum;
}

static void pipeline(void)
{
	enum { STAGES = 5 };
	struct cosy_async ops[STAGES] = { 0 };
	int fds[STAGES + 1][2];
	uint64_t before;
	char got[64];

	for (int i = 0; i <= STAGES; i++)
		open_pipe(fds[i]);
	for (int i = 0; i < STAGES; i++)
		EQUAL(COSY_SPAWN(loop, upper(fds[i][0], fds[i + 1][1]), .op = &ops[i]), 0);
	settle();
	before = attempts_on_pipes();
	for (int round = 0; round < 3; round++) {
		EQUAL(write(fds[0][1], "hello", 5), 5);
		execute_until(fds[STAGES][0], 5);
		EQUAL(read(fds[STAGES][0], got, sizeof(got)), 5);
		EQUAL_BYTES(got, "HELLO", 5);
	}
	/* The first one ends, and then each one closes the next one's input. */
	EQUAL(close(fds[0][1]), 0);
	for (int i = 0; i < STAGES; i++) {
		EQUAL(result_of(loop, &ops[i]), 15);
		EQUAL(fcntl(fds[i + 1][1], F_GETFD), -1);
	}
	EQUAL(attempts_on_pipes(), before);
	EQUAL(read(fds[STAGES][0], got, 1), 0);
	for (int i = 0; i <= STAGES; i++)
		close_fd(fds[i][0]);
}

COSY_ASYNC static long write_twice(int fd, const void *buffer, size_t size)
{
	long n = write(fd, buffer, size);
	long first = n < 0 ? -errno : n;

	n = write(fd, buffer, size);
	return first * 1000 + (n < 0 ? -errno : n);
}

COSY_ASYNC static long read_twice(int fd, void *buffer, size_t size)
{
	long n = read(fd, buffer, size);
	long first = n < 0 ? -errno : n;

	n = read(fd, buffer, size);
	return first * 1000 + (n < 0 ? -errno : n);
}

/* Write more than there is room for, with and without O_NONBLOCK. */
static void large(void)
{
	for (size_t i = 0; i < LARGE; i++)
		out[i] = (char)(i * 13 + (i >> 9));
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		struct cosy_async op = { 0 };
		size_t received = 0;
		int fds[2];

		open_pipe(fds);
		EQUAL(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
		EQUAL(fcntl(fds[1], F_SETFL, flags), 0);
		EQUAL(COSY_SPAWN(loop, write_twice(fds[1], out, LARGE / 2), .op = &op), 0);
		while (received < LARGE) {
			ssize_t n = read(fds[0], in + received, LARGE - received);

			received += n > 0 ? (size_t)n : 0;
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
		}
		EQUAL(result_of(loop, &op), LARGE / 2 * 1001l);
		EQUAL_BYTES(in, out, LARGE / 2);
		EQUAL_BYTES(in + LARGE / 2, out, LARGE / 2);
		close_both(fds);
	}
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	signals += number == SIGPIPE;
}

/* The handler may interrupt the wait. */
static int64_t result_despite_signals(struct cosy_async *op)
{
	int err;

	do
		err = cosy_wait_for(loop, op, NULL);
	while (err == -EINTR);
	EQUAL(err, 0);
	return op->result;
}

/* A thread gets SIGPIPE also after a partial write. */
static void broken(void (*open_both)(int fds[2]))
{
	struct cosy_async op = { 0 };
	int fds[2];

	open_both(fds);
	EQUAL(close(fds[0]), 0);
	signals = 0;
	EQUAL(COSY_SPAWN(loop, write_twice(fds[1], "x", 1), .op = &op), 0);
	EQUAL(result_despite_signals(&op), -EPIPE * 1001);
	EQUAL(signals, 2);
	close_fd(fds[1]);

	open_both(fds);
	signals = 0;
	EQUAL(COSY_SPAWN(loop, write_twice(fds[1], out, LARGE), .op = &op), 0);
	execute_until(fds[0], 65536);
	CHECK(cosy_async_pending(&op));
	EQUAL(signals, 0);
	EQUAL(close(fds[0]), 0);
	EQUAL(result_despite_signals(&op), 65536 * 1000l - EPIPE);
	EQUAL(signals, 2);
	close_fd(fds[1]);
}

/* Functions that take from a semaphore, and one that adds to it. */
COSY_ASYNC static int take(int fd, int times)
{
	uint64_t value;
	int taken = 0;

	while (taken < times && read(fd, &value, sizeof(value)) == sizeof(value) && value == 1)
		taken++;
	return taken;
}

COSY_ASYNC static int give(int fd, int times)
{
	uint64_t value = 1;
	int given = 0;

	while (given < times && write(fd, &value, sizeof(value)) == sizeof(value))
		given++;
	return given;
}

static void semaphores(void)
{
	struct cosy_async takers[3] = { 0 }, giver = { 0 };

	for (int flags = 0; flags <= EFD_NONBLOCK; flags += EFD_NONBLOCK) {
		int fd = eventfd(0, EFD_SEMAPHORE | flags);

		CHECK(fd >= 0);
		for (int i = 0; i < 3; i++)
			EQUAL(COSY_SPAWN(loop, take(fd, 10), .op = &takers[i]), 0);
		settle();
		EQUAL(COSY_SPAWN(loop, give(fd, 30), .op = &giver), 0);
		for (int i = 0; i < 3; i++)
			EQUAL(result_of(loop, &takers[i]), 10);
		EQUAL(result_of(loop, &giver), 30);
		close_fd(fd);
	}
}

static void cancelling(void)
{
	struct cosy_async op = { 0 };
	bool by_thread;
	char buffer[8];
	int fds[2];

	open_pipe(fds);
	by_thread = !has_nowait(fds[0]);
	EQUAL(COSY_SPAWN(loop, read_twice(fds[0], buffer, 1), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED * 1001);
	EQUAL(COSY_SPAWN(loop, read_twice(fds[0], buffer, 1), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel_fd(loop, fds[0]), 1);
	settle();
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &op), -ECANCELED * 1000 + 1);

	/* A part has been written. */
	EQUAL(COSY_SPAWN(loop, write_twice(fds[1], out, LARGE), .op = &op), 0);
	execute_until(fds[0], 65536);
	EQUAL(cosy_cancel(loop, &op), 0);
	/* Outside the module, a thread that makes the call is not interrupted: this ends it. */
	if (by_thread)
		close_fd(fds[0]);
	EQUAL(result_of(loop, &op), 65536 * 1000l - ECANCELED);
	if (!by_thread)
		close_fd(fds[0]);
	close_fd(fds[1]);
}

/* A thread reads and writes in parallel to functions. */
COSY_ASYNC static long count(int fd)
{
	char bytes[100];
	long sum = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		sum += n;
	return sum;
}

static int shared[2];

static void *read_some(void *sum)
{
	char bytes[100];
	ssize_t n;

	while ((n = read(shared[0], bytes, sizeof(bytes))) > 0)
		*(long *)sum += n;
	return NULL;
}

static void beside_threads(void)
{
	struct cosy_async ops[2] = { 0 };
	pthread_t threads[2];
	long sums[2] = { 0 }, total;

	open_pipe(shared);
	for (int i = 0; i < 2; i++) {
		EQUAL(pthread_create(&threads[i], NULL, read_some, &sums[i]), 0);
		EQUAL(COSY_SPAWN(loop, count(shared[0]), .op = &ops[i]), 0);
	}
	settle();
	for (int i = 0; i < 300; i++) {
		EQUAL(write(shared[1], out, 1000), 1000);
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(close(shared[1]), 0);
	total = result_of(loop, &ops[0]);
	total += result_of(loop, &ops[1]);
	for (int i = 0; i < 2; i++) {
		EQUAL(pthread_join(threads[i], NULL), 0);
		total += sums[i];
	}
	EQUAL(total, 300000);
	close_fd(shared[0]);
}

int main(void)
{
	const struct sigaction action = { .sa_handler = count_signal };

	EQUAL(sigaction(SIGPIPE, &action, NULL), 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	pipeline();
	large();
	broken(open_pipe);
	broken(open_fifo);
	semaphores();
	cancelling();
	beside_threads();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
