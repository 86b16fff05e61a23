// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A waiting entry is cancelled once, whether it is ready or not, and takes no data.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

static void cancelling(void)
{
	struct loop loop;
	char byte = 0;
	int sv[2];

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "nothing waits");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 64) == -ENOENT, "nor is there such an entry");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0xffffffff) == -ENOENT, "nor such a one");
	submit_recv(&loop, 3, sv[0], &byte);
	execute(&loop);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED, "cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "once");
	check(send(sv[1], "a", 1, 0) == 1 && !readable(loop.fd) && execute(&loop) == 0 &&
	      collect(&loop) == -1, "it does not complete");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'a', "and lost nothing");
	/* One whose socket is already ready. */
	submit_recv(&loop, 3, sv[0], &byte);
	execute(&loop);
	check(send(sv[1], "b", 1, 0) == 1 && readable(loop.fd) &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED &&
	      !readable(loop.fd) && execute(&loop) == 0, "ready and cancelled");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	cancelling();
	return finish();
}
