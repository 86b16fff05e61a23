/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations wait for signals. A signal completes one of them, and one that is already pending
 * completes the next.
 */
// RUN: %compile
// RUN: %everywhere
#include <signal.h>

#include "loop.h"

int main(void)
{
	struct cosy_loop *loop = make_loop();
	const struct timespec soon = { .tv_nsec = 20000000 };
	struct cosy_async first = { 0 }, second = { 0 };
	union sigval value = { .sival_int = 42 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	EQUAL(cosy_async_signal(loop, &first, &set, &info), 0);
	EQUAL(cosy_wait_for(loop, &first, &soon), -ETIME);
	EQUAL(cosy_async_signal(loop, &second, &set, NULL), 0);
	EQUAL(cosy_wait_for(loop, &second, &soon), -ETIME);
	EQUAL(sigqueue(getpid(), SIGUSR2, value), 0);
	while (cosy_async_pending(&first) && cosy_async_pending(&second))
		EQUAL(cosy_wait(loop, 1, NULL), 1);
	/* One of them has received it. */
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(result_of(loop, &first) + result_of(loop, &second),
	      SIGUSR1 + SIGUSR2);
	if (first.result == SIGUSR2)
		EQUAL(info.si_value.sival_int, 42);
	/* A signal that is already pending. */
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(cosy_async_signal(loop, &first, &set, &info), 0);
	EQUAL(result_of(loop, &first), SIGUSR1);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
