/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions end once, however they are spawned: by functions and callbacks, up to the
 * number of a loop's entries, by several threads; and also if they are cancelled, or their loop is
 * destroyed.
 */
// RUN: %async-compile -O0
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %async-compile -O2 -D_FORTIFY_SOURCE=2
// RUN: %everywhere
#include <pthread.h>

#include "functions.h"

COSY_ASYNC static signed char negative(void)
{
	return -1;
}

COSY_ASYNC static void nothing(int *called)
{
	++*called;
}

COSY_ASYNC static int wait_for_byte(int fd)
{
	unsigned char byte;

	return read(fd, &byte, 1) == 1 ? byte : -1;
}

COSY_ASYNC static int fails(int fd)
{
	char byte;

	return (int)read(fd, &byte, 1);
}

/*
 * Spawning.
 */

static unsigned int ended;

static void count_ended(struct cosy_async *op)
{
	CHECK(!cosy_async_pending(op));
	CHECK(op->data == &ended);
	ended += (unsigned int)op->result;
}

COSY_ASYNC static int connection(int fd)
{
	int n = wait_for_byte(fd);

	close(fd);
	return n;
}

/* A server, which spawns a function for each connection. */
COSY_ASYNC static int server(int n)
{
	int fds[2];

	for (int i = 0; i < n; i++) {
		unsigned char byte = 1;

		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, connection(fds[0]), .done = count_ended,
				 .data = &ended), 0);
		EQUAL(write(fds[1], &byte, 1), 1);
		EQUAL(close(fds[1]), 0);
	}
	return n;
}

static void again(struct cosy_async *op)
{
	if (++ended < 100)
		EQUAL(COSY_SPAWN(loop, negative(), .op = op, .done = again), 0);
}

static void spawning(void)
{
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = 64 };
	struct cosy_async op = { 0 }, ops[65] = { 0 };
	struct cosy_loop_info info;
	struct cosy_loop *small;
	int fds[2];

	EQUAL(RESULT(server(100)), 100);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ended, 100);
	ended = 0;
	EQUAL(COSY_SPAWN(loop, negative(), .op = &op, .done = again), 0);
	EQUAL(COSY_SPAWN(loop, negative(), .op = &op), -EBUSY);
	/* The result is discarded. */
	EQUAL(COSY_SPAWN(loop, nothing((int *)&options.threads)), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ended, 100);
	EQUAL(options.threads, 1);
	options.threads = 0;

	/* A function has one entry while it runs, so its calls never fail. */
	EQUAL(cosy_loop_create(&small, &options), 0);
	open_pair(fds);
	for (int i = 0; i < 64; i++)
		EQUAL(COSY_SPAWN(small, wait_for_byte(fds[0]), .op = &ops[i]),
		      0);
	EQUAL(COSY_SPAWN(small, wait_for_byte(fds[0]), .op = &ops[64]),
	      -EAGAIN);
	CHECK(!cosy_async_pending(&ops[64]));
	for (int i = 0; i < 64; i++) {
		unsigned char byte = (unsigned char)i;

		EQUAL(write(fds[1], &byte, 1), 1);
		EQUAL(result_of(small, &ops[i]), i);
	}
	EQUAL(cosy_loop_info(small, &info, sizeof(info)), 0);
	EQUAL(info.outstanding, 0);
	EQUAL(info.submitted, info.completed);
	EQUAL(cosy_loop_destroy(small), 0);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
}

/*
 * Cancelling.
 */

COSY_ASYNC static int until_cancelled(int fd, const char *name)
{
	char byte;
	int n = 0;

	while (read(fd, &byte, 1) == 1)
		n++;
	EQUAL(errno, ECANCELED);
	EQUAL(read(fd, &byte, 1), -1);
	EQUAL(errno, ECANCELED);
	EQUAL(wait_for_byte(fd), -1);
	/* Calls that take time but do not wait are made. */
	EQUAL(access("/", F_OK), 0);
	EQUAL(unlink(name), -1);
	EQUAL(errno, ENOENT);
	EQUAL(close(fd), 0);
	EQUAL(close(fd), -1);
	EQUAL(errno, EBADF);
	return n;
}

COSY_ASYNC static int closes(int fd)
{
	return close(fd);
}

static void cancelling(void)
{
	static const char name[] = "/does/not/exist";
	struct cosy_async op = { 0 };
	int fds[2];

	/* Before it has begun; when its first call is submitted; while it waits. */
	for (int when = 0; when < 3; when++) {
		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, until_cancelled(fds[0], name),
				 .op = &op), 0);
		EQUAL(write(fds[1], "abc", 3), 3);
		if (when == 1)
			EQUAL(cosy_wait(loop, 1, NULL), 1);
		else if (when == 2)
			settle();
		EQUAL(cosy_cancel(loop, &op), 0);
		EQUAL(cosy_cancel(loop, &op), 0);
		CHECK(cosy_async_pending(&op));
		EQUAL(result_of(loop, &op), when == 2 ? 3 : 0);
		EQUAL(cosy_cancel(loop, &op), -ENOENT);
		close_fd(fds[1]);
	}
	/* A descriptor. */
	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, fails(fds[0]), .op = &op), 0);
	settle();
	EQUAL(RESULT(closes(fds[0])), 0);
	EQUAL(result_of(loop, &op), -1);
	close_fd(fds[1]);
}

/*
 * Several threads, a child, many functions.
 */

static void *run(void *arg)
{
	(void)arg;
	EQUAL(cosy_loop_run(loop), 0);
	return NULL;
}

COSY_ASYNC static unsigned int ping(int fd, unsigned int n)
{
	unsigned int sum = 0, value;

	for (unsigned int i = 0; i < n; i++) {
		EQUAL(send(fd, &i, sizeof(i), 0), sizeof(i));
		EQUAL(recv(fd, &value, sizeof(value), 0), sizeof(value));
		EQUAL(errno, 0);
		sum += value;
	}
	close(fd);
	return sum;
}

COSY_ASYNC static unsigned int pong(int fd)
{
	unsigned int n = 0, value;

	while (recv(fd, &value, sizeof(value), 0) == sizeof(value)) {
		value *= 3;
		EQUAL(send(fd, &value, sizeof(value), 0), sizeof(value));
		n++;
	}
	close(fd);
	return n;
}

static void threads(void)
{
	enum { PAIRS = 8, ROUNDS = 40 };
	struct cosy_async pings[PAIRS] = { 0 }, pongs[PAIRS] = { 0 };
	pthread_t ids[3];
	int fds[2];

	for (int i = 0; i < PAIRS; i++) {
		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, ping(fds[0], ROUNDS), .op = &pings[i]),
		      0);
		EQUAL(COSY_SPAWN(loop, pong(fds[1]), .op = &pongs[i]), 0);
	}
	for (int i = 0; i < 3; i++)
		EQUAL(pthread_create(&ids[i], NULL, run, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < PAIRS; i++) {
		CHECK(!cosy_async_pending(&pings[i]));
		EQUAL(pings[i].result, 3 * ROUNDS * (ROUNDS - 1) / 2);
		EQUAL(pongs[i].result, ROUNDS);
	}
}

static void destroy(void)
{
	enum { MANY = 1000 };
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = MANY };
	static const char name[] = "/does/not/exist";
	struct cosy_loop *large;
	int fds[2];

	EQUAL(cosy_loop_create(&large, &options), 0);
	open_pair(fds);
	ended = 0;
	for (int i = 0; i < MANY; i++)
		EQUAL(COSY_SPAWN(large, wait_for_byte(fds[0]),
				 .done = count_ended, .data = &ended), 0);
	EQUAL(cosy_wait(large, 0, NULL), COSY_WAIT_MAX);
	EQUAL(COSY_SPAWN(large, until_cancelled(dup(fds[0]), name),
			 .done = count_ended, .data = &ended), 0);
	EQUAL(cosy_loop_destroy(large), 0);
	EQUAL(ended, (unsigned int)-MANY);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	loop = make_loop();
	spawning();
	cancelling();
	threads();
	destroy();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
