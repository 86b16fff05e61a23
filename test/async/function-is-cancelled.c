/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions and their descriptors are cancelled, in callbacks and beside other operations. They take
 * turns at a socket, and up-calls may spawn others.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: function-is-cancelled.c:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <sys/stat.h>

#include "serving.h"

static struct cosy_async *to_cancel;

__attribute__((noinline)) static void cancel_it(void)
{
	if (to_cancel)
		EQUAL(cosy_cancel(loop, to_cancel), -ENOENT);
}

/* Return: the results of its calls. */
COSY_ASYNC static int count_errors(int fd, int rounds)
{
	int ended = 0;
	char byte;

	for (int i = 0; i < rounds; i++) {
		ended *= 10;
		if (recv(fd, &byte, 1, 0) == 1)
			ended += 1;
		else if (errno == ECANCELED)
			ended += 2;
		cancel_it();
	}
	return ended;
}

COSY_ASYNC static int close_it(int fd)
{
	return close(fd);
}

static void cancelling(void)
{
	struct cosy_async op = { 0 }, other = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), 222);

	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	settle();
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &op), 122);
	EQUAL(recv(fds[0], &(char){ 0 }, 1, MSG_DONTWAIT), 1);

	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 3), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel_fd(loop, fds[0]), 1);
	settle();
	EQUAL(send(fds[1], "xy", 2, 0), 2);
	EQUAL(result_of(loop, &op), 211);

	/* Another function has closed it. */
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	settle();
	EQUAL(COSY_SPAWN(loop, close_it(fds[0]), .op = &other), 0);
	EQUAL(result_of(loop, &other), 0);
	EQUAL(result_of(loop, &op), 2);
	EQUAL(close(fds[1]), 0);
}

COSY_ASYNC static int receive_and_close(int from, int fd)
{
	char c;

	return recv(from, &c, 1, 0) == 1 ? close(fd) : -1;
}

/*
 * An operation that may need a thread is outstanding when a function closes its descriptor, which
 * cancels it like any other. If the thread has begun, cancelling may be too late, but not always.
 */
static void closing_beside_status(void)
{
	enum { ROUNDS = 20 };
	struct cosy_async op = { 0 }, status = { 0 };
	unsigned int too_late = 0;
	int fds[2], others[2];
	struct stat st;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		open_pair(fds);
		open_pair(others);
		EQUAL(COSY_SPAWN(loop, receive_and_close(fds[0], others[0]), .op = &op), 0);
		settle();
		EQUAL(send(fds[1], "x", 1, 0), 1);
		EQUAL(cosy_async_fstat(loop, &status, others[0], &st), 0);
		EQUAL(result_of(loop, &op), 0);
		if (result_of(loop, &status) == -EBADF)
			too_late++;
		else
			CHECK(!status.result || status.result == -ECANCELED);
		/* Use a number that the previous iteration has not used. */
		cosy_cancel_fd(loop, others[0]);
		close_fd(fds[0]);
		EQUAL(close(fds[1]) | close(others[1]), 0);
	}
	CHECK(too_late < ROUNDS);
}

/* Close in a callback, when no other event would wake the thread. */
COSY_ASYNC static int sleep_a_while(void)
{
	const struct timespec time = { .tv_nsec = 2000000 };

	return nanosleep(&time, NULL);
}

static void cancel_data(struct cosy_async *op)
{
	EQUAL(cosy_cancel(loop, op->data), 0);
}

static void interrupt_data(struct cosy_async *op)
{
	EQUAL(cosy_cancel_fd(loop, *(int *)op->data), 1);
}

static void cancelling_in_callbacks(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	EQUAL(COSY_SPAWN(loop, sleep_a_while(), .done = cancel_data, .data = &op), 0);
	EQUAL(result_of(loop, &op), 2);
	EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 1), .op = &op), 0);
	EQUAL(COSY_SPAWN(loop, sleep_a_while(), .done = interrupt_data, .data = &fds[0]), 0);
	EQUAL(result_of(loop, &op), 2);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* Two functions that receive from one socket alternate. */
static void turns(void)
{
	struct cosy_async ops[2] = { 0 };
	int fds[2];

	open_pair(fds);
	for (int i = 0; i < 2; i++)
		EQUAL(COSY_SPAWN(loop, count_errors(fds[0], 2), .op = &ops[i]), 0);
	settle();
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	EQUAL(result_of(loop, &ops[0]), 11);
	CHECK(cosy_async_pending(&ops[1]));
	EQUAL(send(fds[1], "d", 1, 0), 1);
	EQUAL(result_of(loop, &ops[1]), 11);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* Up-calls that use the loop. */
static int spawned;

static void count_spawned(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	spawned++;
}

__attribute__((noinline)) static void spawn_more(int fd)
{
	EQUAL(COSY_SPAWN(loop, count_errors(fd, 1), .done = count_spawned), 0);
}

COSY_ASYNC static int spawning(int fd, int other)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		spawn_more(other);
		if (send(fd, &byte, 1, 0) != 1)
			return 1;
	}
	return 0;
}

static void nested(void)
{
	struct cosy_async op = { 0 };
	int fds[2], others[2];

	open_pair(fds);
	open_pair(others);
	EQUAL(COSY_SPAWN(loop, spawning(fds[0], others[0]), .op = &op), 0);
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	settle();
	EQUAL(send(others[1], "abc", 3, 0), 3);
	while (spawned < 3)
		CHECK(cosy_wait(loop, 1, NULL) >= 0);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &op), 0);
	CHECK(receives(fds[1], "abc"));
	close_fd(fds[0]);
	close_fd(others[0]);
	EQUAL(close(fds[1]), 0);
	EQUAL(close(others[1]), 0);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	cancelling();
	closing_beside_status();
	cancelling_in_callbacks();
	turns();
	nested();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
