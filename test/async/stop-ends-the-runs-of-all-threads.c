/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy_loop_stop() makes cosy_loop_run() return in all threads, also in one that is just between two
 * deliveries when another one returns. A signal handler holds a thread at a random place until then.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "loop.h"

#define ROUNDS		300
#define HELD_NS		4000000u
#define MAX_STOP_S	60

static struct cosy_loop *loop;
static atomic_bool is_held, may_go, over;
static atomic_uint begun, returned;
static _Thread_local bool has_begun;

static void hold(int signal)
{
	const uint64_t end = now() + HELD_NS;

	(void)signal;
	is_held = true;
	/* It may be held while it has the lock, without which no other thread returns. */
	while (!may_go && now() < end)
		;
}

static void again(struct cosy_async *op)
{
	if (!has_begun) {
		has_begun = true;
		begun++;
	}
	if (!over)
		EQUAL(cosy_async_getpid(loop, op), 0);
}

static void *run(void *unused)
{
	EQUAL(cosy_loop_run(loop), 1);
	returned++;
	return unused;
}

/* Wait, for a short time, until a thread has returned. */
static void wait_for_one(void)
{
	const uint64_t end = now() + 2 * HELD_NS;

	while (!returned && now() < end)
		usleep(50);
}

static void stop_one_round(void)
{
	struct cosy_async ops[4] = { 0 };
	pthread_t threads[2];

	is_held = may_go = over = false;
	begun = returned = 0;
	for (int i = 0; i < 4; i++) {
		ops[i].done = again;
		EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_create(&threads[i], NULL, run, NULL), 0);
	while (begun < 2)
		usleep(20);
	EQUAL(pthread_kill(threads[0], SIGUSR1), 0);
	while (!is_held)
		usleep(20);
	over = true;
	cosy_loop_stop(loop);
	wait_for_one();
	may_go = true;
	/* If it waits for the timer, the alarm ends this. */
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	/* The stop has been used up by these two. */
	EQUAL(cosy_wait_for(loop, &ops[0], NULL), 0);
	for (int i = 0; i < 4; i++)
		if (cosy_async_pending(&ops[i]))
			EQUAL(cosy_wait_for(loop, &ops[i], NULL), 0);
}

int main(void)
{
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async keep = { 0 };

	signal(SIGUSR1, hold);
	loop = make_loop();
	EQUAL(cosy_async_timer(loop, &keep, &hour, 0), 0);
	for (int i = 0; i < ROUNDS; i++) {
		alarm(MAX_STOP_S);
		stop_one_round();
	}
	EQUAL(cosy_cancel(loop, &keep), 0);
	EQUAL(result_of(loop, &keep), -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
