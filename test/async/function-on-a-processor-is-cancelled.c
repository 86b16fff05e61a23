/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A function that a processor runs is cancelled, or its descriptor is closed: by a thread, by an
 * operation, or by a function on another processor.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>

#include "functions-on-cpus.h"

COSY_ASYNC static int close_it(int fd, int wakes)
{
	char byte;

	if (recv(wakes, &byte, 1, 0) != 1)
		return -1;
	return close(fd);
}

/* A processor may be slow: each recv() is made before or after the descriptor is closed. */
static bool is_closed(int64_t error)
{
	return error == ECANCELED || error == EBADF;
}

static void check_closed(struct cosy_async *op)
{
	int64_t result = result_of(loop, op);

	CHECK(is_closed(result / 1000) && is_closed(result % 1000));
}

/* Cancelled by operation: later waits fail, too. By descriptor, and by a close: only this wait. */
static void cancelled(void)
{
	struct cosy_async op = { 0 }, other = { 0 }, closing = { 0 };
	int fds[2], wakes[2];

	new_loop();
	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), ECANCELED * 1000 + ECANCELED);

	/* It is cancelled before it begins. */
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]), .op = &op), 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), ECANCELED * 1000 + ECANCELED);

	for (unsigned int i = 0; i < ncpus; i++) {
		EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]),
				 .op = cosy_async_on(&op, cpus[i])), 0);
		/* Until it waits. */
		while (!cosy_cancel_fd(loop, fds[0]))
			settle();
		settle();
		EQUAL(cosy_async_pending(&op), true);
		EQUAL(send(fds[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &op), ECANCELED * 1000);
	}

	/* Functions on two processors: one waits, the other closes. */
	for (unsigned int i = 0; i < ncpus; i++) {
		open_pair(wakes);
		EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]),
				 .op = cosy_async_on(&op, cpus[i])), 0);
		EQUAL(COSY_SPAWN(loop, close_it(fds[0], wakes[0]),
				 .op = cosy_async_on(&other, cpus[(i + 1) % ncpus])), 0);
		settle();
		EQUAL(send(wakes[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &other), 0);
		check_closed(&op);
		EQUAL(close(fds[1]), 0);
		close_fd(wakes[0]);
		close_fd(wakes[1]);
		open_pair(fds);
	}

	/* An operation closes. */
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]), .op = &op), 0);
	settle();
	EQUAL(cosy_async_close(loop, &closing, fds[0]), 0);
	EQUAL(result_of(loop, &closing), 0);
	check_closed(&op);
	EQUAL(close(fds[1]), 0);

	/* A function closes what an operation waits for on a processor. */
	open_pair(fds);
	open_pair(wakes);
	EQUAL(cosy_async_recv(loop, &closing, fds[0], &(char){ 0 }, 1, 0), 0);
	EQUAL(COSY_SPAWN(loop, close_it(fds[0], wakes[0]), .op = &other), 0);
	settle();
	EQUAL(send(wakes[1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &other), 0);
	CHECK(is_closed(-result_of(loop, &closing)));
	EQUAL(close(fds[1]), 0);
	close_fd(wakes[0]);
	close_fd(wakes[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* Return the error with which the descriptor cannot be received from any more. */
COSY_ASYNC static int receive_again(int fd, int *cancelled)
{
	char byte;

	while (recv(fd, &byte, 1, 0) < 0 && errno == ECANCELED)
		(*cancelled)++;
	return errno;
}

/* Begin a function that waits for the descriptor again whenever its call is cancelled. */
static void let_wait_again(struct cosy_async *op, int fd, int *cancelled)
{
	EQUAL(COSY_SPAWN(loop, receive_again(fd, cancelled), .op = op), 0);
	while (!cosy_cancel_fd(loop, fd))
		settle();
	while (*cancelled < 1)
		settle();
	settle();
}

/*
 * A thread closes a descriptor. It is late, so a function that was cancelled for that waits again, and
 * is cancelled again.
 */
static void closed_late(bool has_cpus)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	const struct timespec long_time = { .tv_sec = 600 };
	struct cosy_async op = { 0 }, polls = { 0 }, closing = { 0 };
	struct pollfd ready = { .events = POLLIN };
	int cancelled = 0;
	int fds[2], wakes[2];

	EQUAL(cosy_loop_create(&loop, &options), 0);
	if (has_cpus)
		EQUAL(cosy_loop_cpus(loop, cpus, ncpus), 0);
	open_pair(fds);
	open_pair(wakes);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	/* Let the only thread wait. */
	ready.fd = wakes[0];
	EQUAL(cosy_async_poll(loop, &polls, &ready, 1, 1000000), 0);
	let_wait_again(&op, fds[0], &cancelled);
	EQUAL(cosy_async_close(loop, &closing, fds[0]), 0);
	while (cancelled < 2)
		settle();
	settle();
	CHECK(cosy_async_pending(&closing) && cosy_async_pending(&op));
	EQUAL(send(wakes[1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &polls), 1);
	EQUAL(result_of(loop, &closing), 0);
	EQUAL(cosy_wait_for(loop, &op, &long_time), 0);
	EQUAL(op.result, EBADF);
	close_fd(fds[1]);
	close_fd(wakes[0]);
	close_fd(wakes[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* If this is set, no thread can be started, and that takes until the second call was cancelled. */
static const volatile int *calls_cancelled;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	const struct timespec little = { .tv_nsec = 10000000 };
	__typeof__(pthread_create) *create = dlsym(RTLD_NEXT, "pthread_create");

	if (!calls_cancelled)
		return create(thread, attr, start, arg);
	/* Then the call is made again. Without the module it is not. */
	for (int i = 0; i < 100 && *calls_cancelled < 2; i++)
		nanosleep(&little, NULL);
	nanosleep(&little, NULL);
	return EAGAIN;
}

/* The same, if the thread that waits closes the descriptor, because there is no thread for that. */
static void closed_without_thread(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	const struct timespec long_time = { .tv_sec = 600 };
	struct cosy_async op = { 0 }, closing = { 0 };
	int cancelled = 0;
	int fds[2];

	new_loop();
	open_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	let_wait_again(&op, fds[0], &cancelled);
	calls_cancelled = &cancelled;
	EQUAL(cosy_async_close(loop, &closing, fds[0]), 0);
	EQUAL(result_of(loop, &closing), 0);
	EQUAL(cosy_wait_for(loop, &op, &long_time), 0);
	EQUAL(op.result, EBADF);
	calls_cancelled = NULL;
	close_fd(fds[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(void)
{
	alarm(600);
	find_cpus();
	cancelled();
	closed_late(false);
	closed_late(true);
	closed_without_thread();
	return 0;
}
