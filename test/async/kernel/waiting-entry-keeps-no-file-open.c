// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A waiting entry does not keep its file open, and receives nothing from a file that gets its number.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

static void closing(void)
{
	struct loop loop;
	char byte = 0;
	int sv[2], copy, other[2];

	create(&loop, 64);
	for (int kind = 0; kind < 4; kind += 3) {
		check(!pair(kind, sv), "a pair");
		submit_recv(&loop, 0, sv[0], &byte);
		check(execute(&loop) == 0, "it waits");
		close(sv[0]);
		check(recv(sv[1], &byte, 1, 0) == 0, "what waits does not hold the file");
		enter_loop(&loop, COSY_ASYNC_CANCEL | 0);
		close(sv[1]);
	}
	/* The number belongs to another file when the first one becomes ready. */
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	copy = dup(sv[0]);
	submit_recv(&loop, 0, sv[0], &byte);
	execute(&loop);
	dup2(other[0], sv[0]);
	check(send(other[1], "o", 1, 0) == 1 && send(sv[1], "f", 1, 0) == 1, "both have something");
	byte = 0;
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -ECANCELED && !byte,
	      "it is cancelled, and takes nothing");
	check(recv(copy, &byte, 1, 0) == 1 && byte == 'f' && recv(sv[0], &byte, 1, 0) == 1 &&
	      byte == 'o', "all is still there");
	/* A loop is destroyed while entries wait, ready or not. */
	submit_recv(&loop, 1, copy, &byte);
	submit_recv(&loop, 2, other[0], &byte);
	execute(&loop);
	send(sv[1], "x", 1, 0);
	destroy(&loop);
	check(send(sv[1], "x", 1, 0) == 1 && send(other[1], "x", 1, 0) == 1, "nobody is woken");
	close(sv[0]);
	close(sv[1]);
	close(copy);
	close(other[0]);
	close(other[1]);
}

int main(void)
{
	device = open_device();
	closing();
	return finish();
}
