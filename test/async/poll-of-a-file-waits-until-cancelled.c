// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * poll() of a regular file for an event that it never has waits for ever, and can be cancelled.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/syscall.h>

#include "loop.h"

static void start(struct cosy_loop *loop, struct cosy_async *op, struct pollfd *poll)
{
	EQUAL(cosy_async_call(loop, op, SYS_poll, (uintptr_t)poll, 1, (uint64_t)-1, 0, 0, 0), 0);
	execute(loop);
	CHECK(cosy_async_pending(op));
}

int main(void)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct pollfd pri = { .fd = fd, .events = POLLPRI }, in = { .fd = fd, .events = POLLIN };
	struct cosy_async first = { 0 }, second = { 0 }, ready = { 0 };
	struct cosy_loop *loop = make_loop();

	CHECK(fd >= 0);
	EQUAL(poll(&pri, 1, 0), 0);
	EQUAL(poll(&in, 1, 0), 1);
	start(loop, &first, &pri);
	start(loop, &second, &pri);
	/* One that is ready completes meanwhile. */
	in.revents = 0;
	EQUAL(cosy_async_call(loop, &ready, SYS_poll, (uintptr_t)&in, 1, (uint64_t)-1, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ready), 1);
	EQUAL(in.revents, POLLIN);
	CHECK(cosy_async_pending(&first) && cosy_async_pending(&second));
	EQUAL(cosy_cancel(loop, &first), 0);
	EQUAL(result_of(loop, &first), -ECANCELED);
	EQUAL(cosy_cancel_fd(loop, fd), 1);
	EQUAL(result_of(loop, &second), -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
