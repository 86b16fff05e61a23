/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Submitting, collecting and waiting; the loop's counts.
 */
// RUN: %compile
// RUN: %everywhere
#include "loop.h"

static struct cosy_loop *loop;
static unsigned int called;

static void count(struct cosy_async *op)
{
	EQUAL(op->result, getpid());
	CHECK(!cosy_async_pending(op));
	called++;
}

/* Submits itself until it has run 1000 times. */
static void again(struct cosy_async *op)
{
	if (++called < 1000)
		EQUAL(cosy_async_getpid(loop, op), 0);
}

static void stop(struct cosy_async *op)
{
	(void)op;
	cosy_loop_stop(loop);
}

static void submitted_when_destroyed(struct cosy_async *op)
{
	EQUAL(op->result, -ECANCELED);
	EQUAL(cosy_async_getpid(loop, op), -ESHUTDOWN);
	called++;
}

static void results(void)
{
	struct cosy_async op = { 0 }, other = { .done = count };

	CHECK(!cosy_async_pending(&op));
	EQUAL(cosy_async_getpid(loop, &op), 0);
	CHECK(cosy_async_pending(&op));
	EQUAL(cosy_async_getpid(loop, &op), -EBUSY);
	EQUAL(cosy_async_getpid(loop, &other), 0);
	EQUAL(cosy_wait(loop, 2, NULL), 2);
	EQUAL(op.result, getpid());
	EQUAL(called, 1);
	/* No operation is outstanding, so there is no wait. */
	EQUAL(cosy_wait(loop, 1, NULL), 0);
	EQUAL(cosy_loop_run(loop), 0);

	/* Errors are results, and do not set errno. */
	errno = 0;
	EQUAL(cosy_async_close(loop, &op, 1000000), 0);
	EQUAL(result_of(loop, &op), -EBADF);
	EQUAL(cosy_async_read(loop, &op, -1, NULL, 1), 0);
	EQUAL(result_of(loop, &op), -EBADF);
	EQUAL(errno, 0);

	/* The result is discarded. */
	EQUAL(cosy_async_getpid(loop, NULL), 0);
	EQUAL(cosy_loop_run(loop), 0);
}

static void limits(void)
{
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = 64 };
	struct cosy_async ops[65] = { 0 };
	struct cosy_loop *small;

	EQUAL(cosy_loop_create(&small, &options), 0);
	for (int rest = 3; rest; rest--) {
		for (int i = 0; i < 64; i++)
			EQUAL(cosy_async_getpid(small, &ops[i]), 0);
		EQUAL(cosy_async_getpid(small, &ops[64]), -EAGAIN);
		CHECK(!cosy_async_pending(&ops[64]));
		EQUAL(cosy_wait(small, 64, NULL), 64);
	}
	EQUAL(cosy_loop_destroy(small), 0);
}

static void callbacks(void)
{
	struct cosy_async op = { .done = again }, ops[200] = { 0 };
	struct cosy_async stopper = { .done = stop };
	struct cosy_loop_info info;

	called = 0;
	EQUAL(cosy_async_getpid(loop, &op), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(called, 1000);

	/* At most 64 at a time. */
	for (int i = 0; i < 200; i++)
		EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
	EQUAL(cosy_wait(loop, COSY_WAIT_MAX, NULL), COSY_WAIT_MAX);
	EQUAL(cosy_wait(loop, COSY_WAIT_MAX, NULL), COSY_WAIT_MAX);
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < 200; i++)
		EQUAL(ops[i].result, getpid());

	/* Operations that were not delivered when the loop was stopped are delivered later. */
	EQUAL(cosy_async_getpid(loop, &stopper), 0);
	EQUAL(cosy_async_getpid(loop, &ops[0]), 0);
	EQUAL(cosy_loop_run(loop), 1);
	CHECK(cosy_async_pending(&ops[0]));
	EQUAL(cosy_loop_run(loop), 0);
	CHECK(!cosy_async_pending(&ops[0]));

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.submitted, info.completed);
	EQUAL(info.outstanding, 0);
	EQUAL(info.waiting, 0);
	EQUAL(info.threads, 0);
}

static void several(void)
{
	struct cosy_async ops[3] = { 0 };
	struct cosy_async *list[3] = { &ops[0], &ops[1], &ops[2] };
	const struct timespec soon = { .tv_nsec = 30000000 };
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_getpid(loop, &ops[0]), 0);
	EQUAL(cosy_async_read(loop, &ops[1], fds[0], &byte, 1), 0);
	EQUAL(cosy_async_getpid(loop, &ops[2]), 0);
	EQUAL(cosy_wait_some(loop, list, 3, 2, NULL), 2);
	EQUAL(cosy_wait_some(loop, list, 3, 3, &soon), 2);
	EQUAL(cosy_wait_some(loop, list, 3, 4, &soon), -EINVAL);
	EQUAL(cosy_wait_for(loop, &ops[1], &soon), -ETIME);
	EQUAL(cosy_async_write(loop, NULL, fds[1], "x", 1), 0);
	EQUAL(cosy_wait_some(loop, list, 3, 3, NULL), 3);
	EQUAL(ops[1].result, 1);
	close(fds[0]);
	close(fds[1]);
}

static void destroy(void)
{
	struct cosy_async op = { .done = submitted_when_destroyed },
			  submitted = op;
	int fds[2];
	char byte;

	called = 0;
	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
	execute(loop);
	EQUAL(cosy_async_getpid(loop, &submitted), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(called, 2);
	EQUAL(cosy_loop_destroy(NULL), 0);
}

int main(void)
{
	loop = make_loop();
	results();
	limits();
	callbacks();
	several();
	destroy();
	return 0;
}
