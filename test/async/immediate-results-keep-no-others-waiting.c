/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Results that are delivered immediately after their calls: how many one thread delivers, what
 * ends that, what callbacks may do with submitted operations and with descriptors, results of calls
 * that never wait while other operations wait, and that these get their turn.
 */
// RUN: %compile
// RUN: %everywhere
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loop.h"

#define PAIRS 100
#define BATCH 64

static struct cosy_loop *loop;
static int fds[PAIRS][2];
static char bytes[PAIRS];
static struct cosy_async receives[PAIRS], sends[PAIRS];
static unsigned int received, sent;

static size_t index_of(const struct cosy_async *op, const struct cosy_async *ops)
{
	return (size_t)(op - ops);
}

static void count_sent(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	sent++;
}

static void answer(struct cosy_async *op)
{
	size_t i = index_of(op, receives);

	EQUAL(op->result, 1);
	received++;
	sends[i] = (struct cosy_async){ .done = count_sent };
	EQUAL(cosy_async_send(loop, &sends[i], fds[i][0], &bytes[i], 1, 0), 0);
}

static void request(unsigned int n, void (*done)(struct cosy_async *op))
{
	received = sent = 0;
	for (unsigned int i = 0; i < n; i++) {
		receives[i] = (struct cosy_async){ .done = done };
		EQUAL(cosy_async_recv(loop, &receives[i], fds[i][0], &bytes[i], 1, 0), 0);
	}
	/* Now they wait, and become ready together. */
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	for (unsigned int i = 0; i < n; i++)
		EQUAL(send(fds[i][1], "x", 1, 0), 1);
}

static void take_answers(unsigned int n)
{
	char byte;

	for (unsigned int i = 0; i < n; i++)
		EQUAL(recv(fds[i][1], &byte, 1, MSG_DONTWAIT), 1);
}

/* Operations that a callback submits and that are delivered immediately also count. */
static void limit(void)
{
	unsigned int delivered = 0;

	request(PAIRS, answer);
	while (delivered < 2 * PAIRS) {
		int n = cosy_wait(loop, 1, NULL);

		CHECK(n > 0 && n <= COSY_WAIT_MAX);
		delivered += (unsigned int)n;
		EQUAL(received + sent, delivered);
	}
	EQUAL(received, PAIRS);
	EQUAL(sent, PAIRS);
	take_answers(PAIRS);
}

static void answer_in_turn(struct cosy_async *op)
{
	EQUAL(sent, received);
	answer(op);
}

/* A server sends its answer before it receives the next request, unless the module waits. */
static void at_once(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	if (info.kernel)
		return;
	request(20, answer_in_turn);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(sent, 20);
	take_answers(20);
}

static void stop(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	received++;
	cosy_loop_stop(loop);
}

static void stopped(void)
{
	request(10, stop);
	for (unsigned int i = 1; i <= 10; i++) {
		EQUAL(cosy_wait(loop, 10, NULL), 1);
		EQUAL(received, i);
	}
}

static void expect_cancelled(struct cosy_async *op)
{
	EQUAL(op->result, -ECANCELED);
	sent++;
}

/* Cancel an operation that is only stored; send without an operation. */
static void send_and_cancel(struct cosy_async *op)
{
	size_t i = index_of(op, receives);

	EQUAL(op->result, 1);
	received++;
	sends[i] = (struct cosy_async){ .done = expect_cancelled };
	EQUAL(cosy_async_send(loop, &sends[i], fds[i][0], "n", 1, 0), 0);
	EQUAL(cosy_async_send(loop, NULL, fds[i][0], &bytes[i], 1, 0), 0);
	EQUAL(cosy_cancel(loop, &sends[i]), 0);
	EQUAL(cosy_cancel(loop, op), -ENOENT);
}

static void cancelled(void)
{
	request(10, send_and_cancel);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(received, 10);
	EQUAL(sent, 10);
	take_answers(10);
	for (unsigned int i = 0; i < 10; i++)
		EQUAL(recv(fds[i][1], &bytes[i], 1, MSG_DONTWAIT), -1);
}

/* A callback that waits. */
static void wait_inside(struct cosy_async *op)
{
	size_t i = index_of(op, receives);

	answer(op);
	EQUAL(cosy_wait_for(loop, &sends[i], NULL), 0);
	EQUAL(sends[i].result, 1);
}

static void nested(void)
{
	request(10, wait_inside);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(received, 10);
	EQUAL(sent, 10);
	take_answers(10);
}

/* Calls that never wait complete while an operation waits, and while none does. */
static void mixed(void)
{
	static struct cosy_async ops[BATCH];

	for (unsigned int round = 0; round < 4; round++) {
		if (round % 2) {
			receives[0] = (struct cosy_async){ 0 };
			EQUAL(cosy_async_recv(loop, &receives[0], fds[0][0], bytes, 1, 0), 0);
		}
		memset(ops, 0, sizeof(ops));
		for (unsigned int i = 0; i < BATCH; i++)
			EQUAL(cosy_async_getpid(loop, &ops[i]), 0);
		EQUAL(cosy_wait(loop, BATCH, NULL), BATCH);
		for (unsigned int i = 0; i < BATCH; i++) {
			CHECK(!cosy_async_pending(&ops[i]));
			EQUAL(ops[i].result, getpid());
		}
		if (round % 2) {
			CHECK(cosy_async_pending(&receives[0]));
			EQUAL(cosy_cancel(loop, &receives[0]), 0);
			EQUAL(cosy_loop_run(loop), 0);
			EQUAL(receives[0].result, -ECANCELED);
		}
	}
}

/* Calls that complete immediately do not delay operations whose descriptors are ready. */
static void fair(void)
{
	struct cosy_async call;
	char byte;

	receives[0] = (struct cosy_async){ 0 };
	EQUAL(cosy_async_recv(loop, &receives[0], fds[0][0], bytes, 1, 0), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	EQUAL(send(fds[0][1], "x", 1, 0), 1);
	for (unsigned int n = 0; cosy_async_pending(&receives[0]); n++) {
		CHECK(n < 1000);
		call = (struct cosy_async){ 0 };
		EQUAL(cosy_async_send(loop, &call, fds[1][0], "y", 1, 0), 0);
		CHECK(cosy_wait(loop, 1, NULL) > 0);
		CHECK(!cosy_async_pending(&call));
		EQUAL(recv(fds[1][1], &byte, 1, MSG_DONTWAIT), 1);
	}
	EQUAL(receives[0].result, 1);
}

static struct sockaddr_in full;
static struct cosy_async connects;
static int reused;

/* Close a descriptor that has an event, too, and begin to connect the next socket of that number. */
static void reconnect(struct cosy_async *op)
{
	struct cosy_async closes = { 0 };

	EQUAL(op->result, 1);
	EQUAL(cosy_async_close(loop, &closes, reused), 0);
	EQUAL(cosy_wait_for(loop, &closes, NULL), 0);
	EQUAL(closes.result, 0);
	EQUAL(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), reused);
	EQUAL(cosy_async_connect(loop, &connects, reused, &full, sizeof(full)), 0);
	CHECK(cosy_wait(loop, 0, NULL) >= 0);
}

/* An event that was reported for a descriptor does not complete the connection of the next file. */
static void outdated(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), clients[2], pair[2];
	struct cosy_async ends = { 0 }, closes = { 0 };
	socklen_t size = sizeof(full);
	char byte;

	full = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	EQUAL(bind(listener, (struct sockaddr *)&full, size), 0);
	EQUAL(listen(listener, 0), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&full, &size), 0);
	/* The first one takes the only place. The others are not answered. */
	for (int i = 0; i < 2; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		EQUAL(connect(clients[i], (struct sockaddr *)&full, size), -1);
		EQUAL(errno, EINPROGRESS);
	}
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	reused = pair[0];
	receives[0] = (struct cosy_async){ .done = reconnect };
	EQUAL(cosy_async_recv(loop, &receives[0], fds[0][0], bytes, 1, 0), 0);
	EQUAL(cosy_async_recv(loop, &ends, reused, &byte, 1, 0), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	EQUAL(send(fds[0][1], "x", 1, 0), 1);
	close(pair[1]);
	EQUAL(cosy_wait_for(loop, &receives[0], NULL), 0);
	EQUAL(cosy_wait_for(loop, &ends, NULL), 0);
	for (int i = 0; i < 10; i++)
		EQUAL(cosy_wait(loop, 0, NULL), 0);
	CHECK(cosy_async_pending(&connects));
	EQUAL(cosy_async_close(loop, &closes, reused), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(connects.result, -ECANCELED);
	close(clients[0]);
	close(clients[1]);
	close(listener);
}

int main(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (unsigned int i = 0; i < PAIRS; i++)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
	limit();
	at_once();
	stopped();
	cancelled();
	nested();
	mixed();
	fair();
	outdated();
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.outstanding, 0);
	EQUAL(info.submitted, info.completed);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
