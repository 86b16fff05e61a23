/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colours THREADS WORK MESSAGES - callbacks with colours in several threads
 *
 * There are 64 connections, each with a colour. A callback computes for WORK steps, sends a
 * byte to its own connection and receives it again, until MESSAGES were received. Prints the
 * time and the CPU time.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/async.h>

#include "times.h"

#define CONNECTIONS 64

struct connection {
	struct cosy_coloured op;
	int fds[2];
	char byte;
	uint32_t sum;
};

static struct connection connections[CONNECTIONS];
static struct cosy_loop *loop;
static unsigned long work, left;

static void received(struct cosy_coloured *op);

static void exchange(struct connection *c)
{
	int error;

	if (write(c->fds[1], "x", 1) != 1)
		err(1, "write");
	error = cosy_async_recv(loop, cosy_colour(&c->op, (uintptr_t)c, received),
				c->fds[0], &c->byte, 1, 0);
	if (error)
		errx(1, "cosy_async_recv: %d", error);
}

static void received(struct cosy_coloured *op)
{
	struct connection *c = op->op.data;

	for (unsigned long i = 0; i < work; i++)
		c->sum = c->sum * 31 + (uint32_t)i;
	if (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) >= CONNECTIONS)
		exchange(c);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: colours THREADS WORK MESSAGES");
	work = strtoul(argv[2], NULL, 0);
	left = strtoul(argv[3], NULL, 0) + CONNECTIONS;
	if (cosy_loop_create(&loop, NULL))
		errx(1, "cosy_loop_create failed");
	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connections[i];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, c->fds))
			err(1, "socketpair");
		c->op.op.data = c;
		exchange(c);
	}
	times_begin();
	if (cosy_loop_run_threads(loop, (unsigned int)atoi(argv[1])))
		errx(1, "cosy_loop_run_threads failed");
	times_print();
	return 0;
}
