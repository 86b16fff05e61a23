/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A handler of a signal stops a loop while its thread waits.
 */
// RUN: %compile
// RUN: %everywhere
#include <signal.h>
#include <sys/time.h>

#include "loop.h"

static struct cosy_loop *loop;
static volatile sig_atomic_t handled;

static void handler(int nr)
{
	(void)nr;
	handled++;
	cosy_loop_stop(loop);
}

int main(void)
{
	const struct itimerval timer = { .it_value.tv_usec = 20000 };
	const struct sigaction action = { .sa_handler = handler };
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async op = { 0 };

	loop = make_loop();
	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(cosy_async_timer(loop, &op, &hour, 0), 0);
	EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
	EQUAL(cosy_loop_run(loop), 1);
	EQUAL(handled, 1);
	EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
	EQUAL(cosy_wait(loop, 1, NULL) <= 0, 1);
	EQUAL(handled, 2);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
