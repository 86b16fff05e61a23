/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread sleeps in a call that waits for a loop. Another thread completes the operation that it
 * waits for: the last one, or a named one. The sleeper must return.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "loop.h"

#define TIMES 20

static struct cosy_loop *loop;
static struct cosy_async named;
static _Atomic pid_t sleeper;

/* After it is woken, it does not run before the thread that has woken it sleeps. */
static void begin(void)
{
	const struct sched_param none = { 0 };

	EQUAL(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	sleeper = (pid_t)syscall(SYS_gettid);
}

static void *until_all_are_complete(void *arg)
{
	(void)arg;
	begin();
	EQUAL(cosy_loop_run(loop), 0);
	return NULL;
}

static void *until_the_named_is(void *arg)
{
	(void)arg;
	begin();
	EQUAL(result_of(loop, &named), 1);
	return NULL;
}

/* Wait until it has begun with @waiting operations, and sleeps. */
static void wait_until_asleep(uint64_t waiting)
{
	struct cosy_loop_info info;

	do {
		sched_yield();
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	} while (!sleeper || info.waiting != waiting || !is_asleep(sleeper));
}

/* Let a thread wait in @body, with @waiting operations; complete the operation of @fds. */
static void complete_for(void *(*body)(void *), uint64_t waiting, int fds[2])
{
	pthread_t thread;

	sleeper = 0;
	EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
	wait_until_asleep(waiting);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	cosy_wait(loop, 0, NULL);
	EQUAL(pthread_join(thread, NULL), 0);
}

static void last(int fds[2])
{
	struct cosy_async op = { 0 };
	char byte;

	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	complete_for(until_all_are_complete, 1, fds);
	EQUAL(op.result, 1);
}

static void one_of_two(int fds[2], int others[2])
{
	struct cosy_async other = { 0 };
	char byte;

	EQUAL(cosy_async_recv(loop, &other, others[0], &byte, 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &named, fds[0], &byte, 1, 0), 0);
	complete_for(until_the_named_is, 2, fds);
	EQUAL(cosy_cancel(loop, &other), 0);
	EQUAL(result_of(loop, &other), -ECANCELED);
}

int main(void)
{
	cpu_set_t cpu;
	int fds[2], others[2];

	/* A test that hangs must fail. */
	alarm(300);
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	EQUAL(sched_setaffinity(0, sizeof(cpu), &cpu), 0);
	loop = make_loop();
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
	for (int i = 0; i < TIMES; i++) {
		last(fds);
		one_of_two(fds, others);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
