/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Several threads submit to a loop, cancel, and wait for it at the same time. Each operation is
 * delivered once. After fork() the child has no loop, and the parent's loop continues.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "loop.h"

#define THREADS 4
#define ROUNDS 2000
#define SHARED 8

static struct cosy_loop *loop;
static atomic_uint delivered;

static void deliver(struct cosy_async *op)
{
	(void)op;
	delivered++;
}

static void *worker(void *arg)
{
	unsigned int random = (unsigned int)(uintptr_t)arg;
	struct cosy_async ops[SHARED] = { 0 };
	char byte[SHARED];
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct cosy_async *op = &ops[i % SHARED];
		unsigned int cancelled = 0;

		op->done = deliver;
		random = random * 1103515245 + 12345;
		switch (random >> 16 & 3) {
		case 0:
			EQUAL(cosy_async_getpid(loop, op), 0);
			EQUAL(result_of(loop, op), getpid());
			break;
		case 1:
			EQUAL(cosy_async_recv(loop, op, fds[0], byte, 1, 0), 0);
			EQUAL(cosy_async_send(loop, NULL, fds[1], "x", 1, 0), 0);
			EQUAL(result_of(loop, op), 1);
			break;
		case 2:
			EQUAL(cosy_async_recv(loop, op, fds[0], byte, 1, 0), 0);
			cancelled = cosy_cancel(loop, op) == 0;
			EQUAL(cancelled, 1);
			EQUAL(result_of(loop, op), -ECANCELED);
			break;
		case 3:
			EQUAL(cosy_async_fsync(loop, op, fds[0]), 0);
			EQUAL(result_of(loop, op), -EINVAL);
			break;
		}
	}
	EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
	close(fds[0]);
	EQUAL(cosy_cancel_fd(loop, fds[1]), 0);
	close(fds[1]);
	return NULL;
}

static void *runner(void *arg)
{
	(void)arg;
	EQUAL(cosy_loop_run(loop), 1);
	return NULL;
}

static void forked(void)
{
	struct cosy_async op = { 0 }, reader = { 0 };
	struct cosy_loop_info info;
	char byte;
	int fds[2], status;

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_read(loop, &reader, fds[0], &byte, 1), 0);
	execute(loop);
	if (!fork()) {
		EQUAL(cosy_async_getpid(loop, &op), -EPERM);
		EQUAL(cosy_wait(loop, 1, NULL), -EPERM);
		EQUAL(cosy_loop_run(loop), -EPERM);
		EQUAL(cosy_cancel(loop, &reader), -EPERM);
		EQUAL(cosy_cancel_fd(loop, fds[0]), -EPERM);
		EQUAL(cosy_loop_fd(loop), -EPERM);
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), -EPERM);
		cosy_loop_stop(loop);
		EQUAL(cosy_loop_destroy(loop), 0);
		/* It may create its own loop. */
		loop = make_loop();
		EQUAL(cosy_async_write(loop, &op, fds[1], "x", 1), 0);
		EQUAL(result_of(loop, &op), 1);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(7);
	}
	EQUAL(result_of(loop, &reader), 1);
	CHECK(wait(&status) > 0);
	EQUAL(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async keep = { 0 };
	pthread_t threads[THREADS], runners[2];
	struct cosy_loop_info info;

	loop = make_loop();
	EQUAL(cosy_async_timer(loop, &keep, &hour, 0), 0);
	execute(loop);
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_create(&runners[i], NULL, runner, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, worker,
				     (void *)(uintptr_t)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	/* All waiting threads return. */
	cosy_loop_stop(loop);
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_join(runners[i], NULL), 0);
	EQUAL(delivered, THREADS * ROUNDS);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.completed, info.submitted - 1);
	EQUAL(cosy_cancel(loop, &keep), 0);
	EQUAL(result_of(loop, &keep), -ECANCELED);
	forked();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
