// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A process that has no free descriptor waits for signals all the same, and the wait can be cancelled.
 */
// RUN: %compile
// RUN: %everywhere
#include <signal.h>
#include <sys/resource.h>

#include "loop.h"

int main(void)
{
	struct cosy_async op = { 0 };
	struct rlimit before, none;
	struct cosy_loop *loop;
	struct cosy_loop_info loop_info;
	siginfo_t info = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	loop = make_loop();
	EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(dup(0), -1);
	EQUAL(cosy_async_signal(loop, &op, &set, &info), 0);
	execute(loop);
	CHECK(cosy_async_pending(&op));
	EQUAL(kill(getpid(), SIGUSR1), 0);
	EQUAL(result_of(loop, &op), SIGUSR1);
	EQUAL(info.si_pid, getpid());
	/* No thread waits for it, which nothing could cancel. */
	EQUAL(cosy_async_signal(loop, &op, &set, &info), 0);
	execute(loop);
	EQUAL(cosy_loop_info(loop, &loop_info, sizeof(loop_info)), 0);
	EQUAL(loop_info.threads, 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
	EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
