/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * read() and write() in COSY_ASYNC functions that are compounds: the module waits for
 * sockets and pipes, and leaves the compound for most other files.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "functions.h"

static void open_pair_of(int type, int fds[2])
{
	EQUAL(socketpair(AF_UNIX, type, 0, fds), 0);
}

static void close_both(const int fds[2])
{
	close_fd(fds[0]);
	close_fd(fds[1]);
}

/* Return: bytes, or -errno. */
COSY_ASYNC static long copy(int from, int to, size_t size)
{
	char buffer[64];
	long sum = 0;
	ssize_t n;

	while ((n = read(from, buffer, size)) > 0) {
		for (ssize_t done = 0, m; done < n; done += m) {
			m = write(to, buffer + done, (size_t)(n - done));
			if (m < 0)
				return -errno;
		}
		sum += n;
	}
	return n < 0 ? -errno : sum;
}

/* Sockets: the module makes all of the calls. */
static void sockets(void)
{
	enum { N = 8 };
	struct cosy_async ops[N] = { 0 };
	uint64_t before;
	char got[8];
	int fds[N][2];

	for (int i = 0; i < N; i++) {
		open_pair_of(SOCK_STREAM, fds[i]);
		/* They wait nevertheless, because a loop executes them. */
		if (i % 2)
			EQUAL(fcntl(fds[i][0], F_SETFL, O_RDWR | O_NONBLOCK), 0);
		EQUAL(COSY_SPAWN(loop, copy(fds[i][0], fds[i][0], 64), .op = &ops[i]), 0);
	}
	settle();
	before = attempts();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			EQUAL(write(fds[i][1], "hello", 5), 5);
		settle();
		for (int i = 0; i < N; i++) {
			EQUAL(recv(fds[i][1], got, sizeof(got), MSG_DONTWAIT), 5);
			EQUAL_BYTES(got, "hello", 5);
		}
	}
	EQUAL(attempts(), before);
	for (int i = 0; i < N; i++) {
		EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
		EQUAL(result_of(loop, &ops[i]), 15);
		close_both(fds[i]);
	}
}

/* The module does not fill this much memory, but makes the calls after that. */
COSY_ASYNC static int fill(int fd, char *bytes, size_t size)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		memset(bytes, byte, size);
		send(fd, bytes + size - 1, 1, 0);
	}
	return 0;
}

static void long_steps(void)
{
	enum { LARGE = 1 << 21 };
	static char bytes[LARGE];
	struct cosy_async op = { 0 };
	uint64_t before;
	int fds[2];
	char got;

	open_pair_of(SOCK_STREAM, fds);
	EQUAL(COSY_SPAWN(loop, fill(fds[0], bytes, LARGE), .op = &op), 0);
	settle();
	before = attempts();
	for (int i = 0; i < 3; i++) {
		EQUAL(send(fds[1], &"abc"[i], 1, 0), 1);
		settle();
		EQUAL(recv(fds[1], &got, 1, MSG_DONTWAIT), 1);
		EQUAL(got, 'a' + i);
		EQUAL(bytes[0], 'a' + i);
	}
	EQUAL(attempts(), before);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &op), 0);
	close_both(fds);
}

/* Pipes and sockets in all combinations, and transfers that need several attempts. */
static void pipes(void)
{
	enum { SIZE = 1 << 17 };
	static char out[SIZE], in[SIZE];

	for (size_t i = 0; i < SIZE; i++)
		out[i] = (char)(i * 5 + (i >> 8));
	for (int kinds = 0; kinds < 4; kinds++) {
		struct cosy_async op = { 0 };
		size_t written = 0, received = 0;
		int from[2], to[2];

		EQUAL(kinds & 1 ? pipe(from) : socketpair(AF_UNIX, SOCK_STREAM, 0, from), 0);
		EQUAL(kinds & 2 ? pipe(to) : socketpair(AF_UNIX, SOCK_STREAM, 0, to), 0);
		EQUAL(fcntl(from[1], F_SETFL, O_WRONLY | O_NONBLOCK), 0);
		EQUAL(fcntl(to[0], F_SETFL, O_RDONLY | O_NONBLOCK), 0);
		EQUAL(COSY_SPAWN(loop, copy(from[0], to[1], 61), .op = &op), 0);
		while (received < SIZE) {
			ssize_t n = write(from[1], out + written, SIZE - written);

			written += n > 0 ? (size_t)n : 0;
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
			n = read(to[0], in + received, SIZE - received);
			received += n > 0 ? (size_t)n : 0;
		}
		EQUAL_BYTES(in, out, SIZE);
		EQUAL(close(from[1]), 0);
		EQUAL(result_of(loop, &op), SIZE);
		close_fd(from[0]);
		close_both(to);
	}
}

COSY_ASYNC static uint64_t add(int fd, int times)
{
	uint64_t value, sum = 0;

	for (int i = 0; i < times; i++) {
		if (read(fd, &value, sizeof(value)) != sizeof(value))
			return 0;
		sum += value;
	}
	return sum;
}

/* Files of other types: a counter, and a file on a disk. */
static void other_files(void)
{
	struct cosy_async op = { 0 };
	char name[] = "/tmp/cosy-files-XXXXXX", got[8];
	int counter = eventfd(0, 0), file = mkstemp(name), fds[2];
	uint64_t value = 5;

	CHECK(counter >= 0 && file >= 0);
	EQUAL(COSY_SPAWN(loop, add(counter, 2), .op = &op), 0);
	settle();
	EQUAL(write(counter, &value, sizeof(value)), sizeof(value));
	settle();
	CHECK(cosy_async_pending(&op));
	value = 7;
	EQUAL(write(counter, &value, sizeof(value)), sizeof(value));
	EQUAL(result_of(loop, &op), 12);
	close_fd(counter);

	open_pair_of(SOCK_STREAM, fds);
	EQUAL(send(fds[1], "to disk", 7, 0), 7);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(COSY_SPAWN(loop, copy(fds[0], file, 3), .op = &op), 0);
	EQUAL(result_of(loop, &op), 7);
	EQUAL(lseek(file, 0, SEEK_SET), 0);
	EQUAL(COSY_SPAWN(loop, copy(file, fds[0], 3), .op = &op), 0);
	EQUAL(result_of(loop, &op), 7);
	EQUAL(read(fds[1], got, sizeof(got)), 7);
	EQUAL_BYTES(got, "to disk", 7);
	close_both(fds);
	close_fd(file);
	EQUAL(unlink(name), 0);
}

/* The errors of a call that is made twice, and its results, as decimal digits. */
COSY_ASYNC static long read_twice(int fd, void *buffer, size_t size)
{
	long n = read(fd, buffer, size);
	long first = n < 0 ? -errno : n;

	n = read(fd, buffer, size);
	return first * 1000 + (n < 0 ? -errno : n);
}

COSY_ASYNC static long write_twice(int fd, const void *buffer, size_t size)
{
	long n = write(fd, buffer, size);
	long first = n < 0 ? -errno : n;

	n = write(fd, buffer, size);
	return first * 1000 + (n < 0 ? -errno : n);
}

static long reads(int fd, void *buffer, size_t size)
{
	struct cosy_async op = { 0 };

	EQUAL(COSY_SPAWN(loop, read_twice(fd, buffer, size), .op = &op), 0);
	return result_of(loop, &op);
}

static long writes(int fd, const void *buffer, size_t size)
{
	struct cosy_async op = { 0 };

	EQUAL(COSY_SPAWN(loop, write_twice(fd, buffer, size), .op = &op), 0);
	return result_of(loop, &op);
}

static void results(void)
{
	char buffer[8];
	int fds[2], directory = open("/", O_RDONLY), path = open("/", O_PATH), listener, pipes[2];

	open_pair_of(SOCK_STREAM, fds);
	EQUAL(reads(-1, buffer, 1), -EBADF * 1001);
	EQUAL(writes(-1, buffer, 1), -EBADF * 1001);
	EQUAL(reads(path, buffer, 1), -EBADF * 1001);
	EQUAL(reads(directory, buffer, 1), -EISDIR * 1001);
	EQUAL(writes(directory, buffer, 1), -EBADF * 1001);
	/* There is no data, and none is requested. */
	EQUAL(reads(fds[0], buffer, 0), 0);
	EQUAL(writes(fds[0], buffer, 0), 0);
	EQUAL(reads(fds[0], (void *)-4096, 1), -EFAULT * 1001);
	EQUAL(writes(fds[0], (void *)-4096, 1), -EFAULT * 1001);
	EQUAL(writes(fds[0], (void *)8, 1), -EFAULT * 1001);
	EQUAL(write(fds[1], "abc", 3), 3);
	EQUAL(reads(fds[0], (void *)8, 1), -EFAULT * 1001);
	EQUAL(reads(fds[0], buffer, 2), 2001);
	EQUAL(close(fds[1]), 0);
	EQUAL(reads(fds[0], buffer, 2), 0);
	close_fd(fds[0]);

	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	EQUAL(reads(listener, buffer, 1), -EINVAL * 1001);
	close_fd(listener);
	EQUAL(pipe(pipes), 0);
	EQUAL(reads(pipes[1], buffer, 1), -EBADF * 1001);
	EQUAL(writes(pipes[0], buffer, 1), -EBADF * 1001);
	close_both(pipes);
	EQUAL(close(directory), 0);
	EQUAL(close(path), 0);
}

/* One write is one message. */
static void messages(void)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_DGRAM };
	struct cosy_async op = { 0 };
	char buffer[8];
	int fds[2];

	for (int i = 0; i < 2; i++) {
		open_pair_of(types[i], fds);
		EQUAL(writes(fds[0], "abcd", 4), 4004);
		EQUAL(recv(fds[1], buffer, 2, 0), 2);
		EQUAL(COSY_SPAWN(loop, read_twice(fds[0], buffer, 8), .op = &op), 0);
		settle();
		EQUAL(write(fds[1], "xyz", 3), 3);
		settle();
		CHECK(cosy_async_pending(&op));
		EQUAL(write(fds[1], "", 0), 0);
		EQUAL(write(fds[1], "12", 2), 2);
		EQUAL(result_of(loop, &op), 3000);
		EQUAL(recv(fds[1], buffer, 8, 0), 4);
		close_both(fds);
	}
}

static volatile sig_atomic_t pipe_signals;

static void count_signal(int number)
{
	pipe_signals += number == SIGPIPE;
}

/* SIGPIPE is raised where a blocking write raises it, but not after a partial write. */
static void broken(void)
{
	enum { LARGE = 1 << 20 };
	static char out[LARGE], in[LARGE];
	struct cosy_async op = { 0 };
	int fds[2];
	long result;

	open_pair_of(SOCK_STREAM, fds);
	EQUAL(close(fds[1]), 0);
	EQUAL(writes(fds[0], "x", 1), -EPIPE * 1001);
	EQUAL(pipe_signals, 2);
	close_fd(fds[0]);

	pipe_signals = 0;
	open_pair_of(SOCK_STREAM, fds);
	EQUAL(COSY_SPAWN(loop, write_twice(fds[0], out, LARGE), .op = &op), 0);
	settle();
	CHECK(cosy_async_pending(&op));
	EQUAL(shutdown(fds[1], SHUT_RD), 0);
	/* poll() does not report it while there is no room. */
	while (recv(fds[1], in, sizeof(in), MSG_DONTWAIT) > 0)
		;
	result = result_of(loop, &op);
	/* A partial write, and EPIPE. */
	CHECK(result > -EPIPE + 1000 && result < LARGE * 1000l);
	EQUAL((result + EPIPE) % 1000, 0);
	EQUAL(pipe_signals, 1);
	close_both(fds);
}

static void large(void)
{
	enum { LARGE = 1 << 19 };
	static char out[LARGE], in[2 * LARGE];
	struct cosy_async op = { 0 };
	int fds[2];

	for (size_t i = 0; i < LARGE; i++)
		out[i] = (char)(i * 13 + (i >> 9));
	open_pair_of(SOCK_STREAM, fds);
	EQUAL(COSY_SPAWN(loop, write_twice(fds[0], out, LARGE), .op = &op), 0);
	receive_from_loop(fds[1], in, sizeof(in));
	EQUAL(result_of(loop, &op), LARGE * 1001l);
	EQUAL_BYTES(in, out, LARGE);
	EQUAL_BYTES(in + LARGE, out, LARGE);
	close_both(fds);
}

static void cancelling(void)
{
	struct cosy_async op = { 0 };
	char buffer[8];
	int fds[2], pipes[2];

	open_pair_of(SOCK_STREAM, fds);
	EQUAL(pipe(pipes), 0);
	for (int i = 0; i < 2; i++) {
		int fd = i ? pipes[0] : fds[0];

		EQUAL(COSY_SPAWN(loop, read_twice(fd, buffer, 1), .op = &op), 0);
		settle();
		EQUAL(cosy_cancel(loop, &op), 0);
		EQUAL(result_of(loop, &op), -ECANCELED * 1001);
		EQUAL(COSY_SPAWN(loop, read_twice(fd, buffer, 1), .op = &op), 0);
		settle();
		EQUAL(cosy_cancel_fd(loop, fd), 1);
		settle();
		EQUAL(write(i ? pipes[1] : fds[1], "x", 1), 1);
		EQUAL(result_of(loop, &op), -ECANCELED * 1000 + 1);
	}
	/* The number is reused for another file meanwhile. */
	EQUAL(COSY_SPAWN(loop, read_twice(fds[0], buffer, 1), .op = &op), 0);
	settle();
	cosy_cancel_fd(loop, fds[0]);
	EQUAL(dup2(pipes[0], fds[0]), fds[0]);
	EQUAL(write(pipes[1], "x", 1), 1);
	EQUAL(result_of(loop, &op), -ECANCELED * 1000 + 1);
	close_both(fds);
	close_both(pipes);
}

int main(void)
{
	const struct sigaction action = { .sa_handler = count_signal };

	EQUAL(sigaction(SIGPIPE, &action, NULL), 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	sockets();
	long_steps();
	pipes();
	other_files();
	results();
	messages();
	broken();
	large();
	cancelling();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
