/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The descriptor of a loop can be polled by another event loop.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/socket.h>

#include "loop.h"

static bool readable(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1;
}

/* The descriptor is readable when there is work, and not otherwise. */
int main(void)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	struct cosy_async op = { 0 }, many_ops[200] = { 0 };
	struct cosy_loop *loop = make_loop();
	int fd = cosy_loop_fd(loop), fds[2];
	unsigned int delivered = 0;
	char byte;

	CHECK(fd >= 0);
	EQUAL(cosy_loop_fd(loop), fd);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(cosy_async_getpid(loop, &op), 0);
	CHECK(readable(fd, 0));
	EQUAL(cosy_wait(loop, 0, NULL), 1);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(cosy_async_timer(loop, &op, &soon, 0), 0);
	while (cosy_async_pending(&op)) {
		CHECK(readable(fd, 60000));
		cosy_wait(loop, 0, NULL);
	}
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(write(fds[1], "x", 1), 1);
	CHECK(readable(fd, 0));
	EQUAL(cosy_wait(loop, 0, NULL), 1);
	/* More operations than one call delivers. */
	for (int i = 0; i < 200; i++)
		EQUAL(cosy_async_getpid(loop, &many_ops[i]), 0);
	while (delivered < 200) {
		CHECK(readable(fd, 0));
		delivered += (unsigned int)cosy_wait(loop, 0, NULL);
	}
	/* A call of a thread. */
	EQUAL(cosy_async_fsync(loop, &op, fds[0]), 0);
	while (cosy_async_pending(&op)) {
		CHECK(readable(fd, 60000));
		cosy_wait(loop, 0, NULL);
	}
	EQUAL(op.result, -EINVAL);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
