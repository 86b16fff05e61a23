/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * While it waits, the function serve() of docs/async.md takes as much of the heap as that page says: for a
 * task, and for a frame with the registers of its compound.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <malloc.h>

#include "functions.h"

#define FUNCTIONS 20
/* In docs/async.md. */
#define BYTES	  368

static struct connection {
	char in[64], out[64];
} connections[FUNCTIONS];

__attribute__((noinline)) static size_t reply(struct connection *c, ssize_t n)
{
	memcpy(c->out, c->in, (size_t)n);
	return (size_t)n;
}

COSY_ASYNC static ssize_t serve(int fd, struct connection *c)
{
	ssize_t n;

	while ((n = recv(fd, c->in, sizeof(c->in), 0)) > 0)
		if (send(fd, c->out, reply(c, n), 0) < 0)
			break;
	close(fd);
	return n;
}

int main(void)
{
	int servers[FUNCTIONS], clients[FUNCTIONS];
	size_t least = SIZE_MAX;

	loop = make_loop();
	for (int i = 0; i < FUNCTIONS; i++) {
		size_t before = mallinfo2().uordblks, bytes;
		int fds[2];

		open_pair(fds);
		servers[i] = fds[0];
		clients[i] = fds[1];
		EQUAL(COSY_SPAWN(loop, serve(servers[i], &connections[i])), 0);
		settle();
		bytes = mallinfo2().uordblks - before;
		/* With some of them, tables of the loop have grown. */
		if (bytes < least)
			least = bytes;
	}
	EQUAL(least, BYTES);
	for (int i = 0; i < FUNCTIONS; i++)
		EQUAL(close(clients[i]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
