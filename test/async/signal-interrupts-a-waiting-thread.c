// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A handler of a signal interrupts a thread that waits for a loop, whichever of several threads that
 * wait it is, with and without SA_RESTART.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "loop.h"

static struct cosy_loop *loop;
static struct cosy_async ops[2];
static int pipes[2][2];
static char byte;
static atomic_bool returned;
static atomic_int other, handled;

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Wait for the first operation. */
static void *wait_first(void *arg)
{
	other = (int)syscall(SYS_gettid);
	EQUAL(cosy_wait_for(loop, &ops[0], NULL), 0);
	return arg;
}

/* Interrupt the main thread until its call has returned. */
static void *interrupt(void *main_thread)
{
	while (!returned) {
		if (is_asleep(getpid()))
			pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
		usleep(1000);
	}
	return NULL;
}

static void test(int flags, bool second)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	pthread_t self = pthread_self(), waiter, interrupter;

	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	loop = make_loop();
	for (int i = 0; i < 2; i++) {
		EQUAL(pipe(pipes[i]), 0);
		EQUAL(cosy_async_read(loop, &ops[i], pipes[i][0], &byte, 1), 0);
	}
	other = 0;
	returned = false;
	handled = 0;
	if (second) {
		EQUAL(pthread_create(&waiter, NULL, wait_first, NULL), 0);
		while (!other || !is_asleep(other))
			usleep(1000);
	}
	EQUAL(pthread_create(&interrupter, NULL, interrupt, &self), 0);
	EQUAL(cosy_wait_for(loop, &ops[1], NULL), -EINTR);
	returned = true;
	CHECK(handled);
	EQUAL(pthread_join(interrupter, NULL), 0);
	for (int i = 0; i < 2; i++)
		EQUAL(write(pipes[i][1], "", 1), 1);
	if (second)
		EQUAL(pthread_join(waiter, NULL), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(cosy_wait_for(loop, &ops[i], NULL), 0);
		EQUAL(ops[i].result, 1);
		EQUAL(close(pipes[i][0]), 0);
		EQUAL(close(pipes[i][1]), 0);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(void)
{
	test(0, false);
	test(SA_RESTART, false);
	test(0, true);
	test(SA_RESTART, true);
	return 0;
}
