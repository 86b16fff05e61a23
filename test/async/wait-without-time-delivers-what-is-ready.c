/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that may wait for no time do not wait, and deliver what is ready.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/socket.h>

#include "loop.h"

int main(void)
{
	struct cosy_loop *loop = make_loop();
	const struct timespec none = { 0 };
	struct cosy_async op = { 0 };
	struct cosy_async *ops[] = { &op };
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int how = 0; how < 3; how++) {
		EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
		EQUAL(cosy_wait(loop, 1, &none), 0);
		EQUAL(cosy_wait_for(loop, &op, &none), -ETIME);
		EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 0);
		EQUAL(write(fds[1], "x", 1), 1);
		if (how == 0)
			EQUAL(cosy_wait(loop, 1, &none), 1);
		else if (how == 1)
			EQUAL(cosy_wait_for(loop, &op, &none), 0);
		else
			EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 1);
		EQUAL(op.result, 1);
	}
	EQUAL(cosy_async_close(loop, NULL, fds[0]), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[1]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
