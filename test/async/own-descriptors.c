// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program closes all descriptors, also those of its loop. Waiting then fails; it does not use the
 * processor for ever.
 */
// RUN: %compile
// RUN: %everywhere
#include "loop.h"

/* The loops of processors have descriptors of their own. */
static void processors(void)
{
	struct cosy_async op = { 0 };
	struct cosy_loop *loop = make_loop();
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
	execute(loop);
	/* The processors' threads wait now. */
	usleep(100000);
	EQUAL(close_range(3, ~0u, 0), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(op.result, -ECANCELED);
}

int main(void)
{
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async closes = { 0 }, timer = { 0 };
	struct cosy_loop *loop = make_loop();

	alarm(100);
	EQUAL(cosy_async_timer(loop, &timer, &hour, 0), 0);
	execute(loop);
	EQUAL(cosy_async_close_range(loop, &closes, 3, -1, 0), 0);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(cosy_wait(loop, 1, NULL), -EBADF);
	EQUAL(cosy_wait(loop, 1, &hour), -EBADF);
	EQUAL(cosy_wait_for(loop, &timer, NULL), -EBADF);
	EQUAL(cosy_loop_run(loop), -EBADF);
	EQUAL(cosy_loop_run_threads(loop, 3), -EBADF);
	EQUAL(cosy_cancel(loop, &timer), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(timer.result, -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	processors();
	return 0;
}
