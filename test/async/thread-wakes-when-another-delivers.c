/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread that waits for an operation wakes up when another thread has delivered it. It may sleep
 * in epoll then, and there may be no other outstanding operation that would wake it.
 */
// RUN: %async-compile -O2
// RUN: COSY_EXECUTOR=user %bounded %t 3000
// RUN: %vm env COSY_EXECUTOR=auto %t 100
// RUN: %vm env COSY_EXECUTOR=kernel %t 100
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cosy/task.h>

#include "loop.h"

#define CONNECTIONS 8
#define REQUESTS 3
#define THREADS 3

static struct cosy_loop *loop;
static bool stop;

COSY_ASYNC static int serve(int fd)
{
	char bytes[16];
	ssize_t n;
	int requests = 0;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		send(fd, bytes, (size_t)n, 0);
		requests++;
	}
	return requests;
}

/* Another waiting thread, which does not sleep for long. */
static void *run(void *unused)
{
	const struct timespec time = { .tv_nsec = 2000000 };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		cosy_wait(loop, 1, &time);
	return unused;
}

static void round_of_requests(void)
{
	const struct timespec minute = { .tv_sec = 60 };
	struct cosy_async ops[CONNECTIONS] = { 0 };
	pthread_t threads[THREADS];
	int fds[CONNECTIONS][2];
	uint64_t from;

	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	for (int i = 0; i < CONNECTIONS; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
		EQUAL(COSY_SPAWN(loop, serve(fds[i][0]), .op = &ops[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, run, NULL), 0);
	for (int i = 0; i < REQUESTS * CONNECTIONS; i++) {
		int fd = fds[i % CONNECTIONS][1];
		char got[8];

		EQUAL(send(fd, "ping", 4, 0), 4);
		EQUAL(recv(fd, got, sizeof(got), 0), 4);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
	from = now();
	for (int i = 0; i < CONNECTIONS; i++) {
		EQUAL(cosy_wait_for(loop, &ops[i], &minute), 0);
		EQUAL(ops[i].result, REQUESTS);
	}
	/* It learns of that at the end of its timeout at the latest. */
	CHECK(now() - from < 50000000000u);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < CONNECTIONS; i++) {
		EQUAL(cosy_cancel_fd(loop, fds[i][0]), 0);
		EQUAL(close(fds[i][0]), 0);
		EQUAL(close(fds[i][1]), 0);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	loop = make_loop();
	for (int i = 0; i < rounds; i++)
		round_of_requests();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
