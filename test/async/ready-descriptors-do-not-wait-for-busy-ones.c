/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Many descriptors that are polled become ready together, while 64 pairs of sockets are always busy.
 * The polls complete after few operations of the busy sockets.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "loop.h"

#define PLAYERS 128
#define POLLS 512
/* A look at epoll takes 32 events. Between two looks there are a few entries into the module, at most. */
#define MAX_TURNS (POLLS / 32 * 512)

static struct cosy_loop *loop;
static struct cosy_async plays[PLAYERS], polls[POLLS];
static struct pollfd polled[POLLS];
static int fds[PLAYERS];
static char bytes[PLAYERS];
static unsigned int turns, ready;

/* Send the ball back, until all polls have completed. */
static void play(struct cosy_async *op)
{
	size_t i = (size_t)(op - plays);

	EQUAL(op->result, 1);
	turns++;
	CHECK(turns <= MAX_TURNS);
	if (ready == POLLS)
		return;
	EQUAL(cosy_async_send(loop, NULL, fds[i], "x", 1, 0), 0);
	EQUAL(cosy_async_recv(loop, op, fds[i], &bytes[i], 1, 0), 0);
}

static void count_ready(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	ready++;
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (unsigned int i = 0; i < PLAYERS; i += 2)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, &fds[i]), 0);
	for (unsigned int i = 0; i < POLLS; i++) {
		polled[i] = (struct pollfd){ .fd = eventfd(0, 0), .events = POLLIN };
		CHECK(polled[i].fd >= 0);
		polls[i].done = count_ready;
		EQUAL(cosy_async_poll(loop, &polls[i], &polled[i], 1, -1), 0);
	}
	execute(loop);
	for (unsigned int i = 0; i < PLAYERS; i++) {
		plays[i].done = play;
		EQUAL(cosy_async_recv(loop, &plays[i], fds[i], &bytes[i], 1, 0), 0);
		if (i % 2)
			EQUAL(cosy_async_send(loop, NULL, fds[i], "x", 1, 0), 0);
	}
	for (unsigned int i = 0; i < POLLS; i++)
		EQUAL(eventfd_write(polled[i].fd, 1), 0);
	while (ready < POLLS)
		CHECK(cosy_wait(loop, 1, NULL) > 0);
	printf("%u polls, %u turns\n", ready, turns);
	for (unsigned int i = 0; i < PLAYERS; i++)
		if (cosy_async_pending(&plays[i]))
			EQUAL(cosy_cancel(loop, &plays[i]), 0);
	for (unsigned int i = 0; i < PLAYERS; i++)
		plays[i].done = NULL;
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
