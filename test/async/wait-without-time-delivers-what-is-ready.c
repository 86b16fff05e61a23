/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that may wait for no time do not wait, and deliver what is ready: also if signals end each entry
 * into the module before anything is complete.
 */
// RUN: %compile
// RUN: %everywhere
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loop.h"

enum { SIGNALS = 3, WAYS = 4 };

static const struct timespec none;
static volatile sig_atomic_t handled;

static void handle(int nr)
{
	(void)nr;
	handled++;
}

/* Deliver one operation, which is ready, in one of the ways to wait for no time. */
static void deliver(struct cosy_loop *loop, struct cosy_async *op, int way)
{
	struct cosy_async *ops[] = { op };

	if (way == 0)
		EQUAL(cosy_wait(loop, 1, &none), 1);
	else if (way == 1)
		EQUAL(cosy_wait(loop, 0, NULL), 1);
	else if (way == 2)
		EQUAL(cosy_wait_for(loop, op, &none), 0);
	else
		EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 1);
	EQUAL(op->result, 1);
}

/* @waited: the operation waits before it becomes ready. @signals: number of calls that raise one. */
static void reads(struct cosy_loop *loop, int way, bool waited, int signals)
{
	struct cosy_async op = { 0 };
	struct cosy_async *ops[] = { &op };
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	if (waited) {
		EQUAL(cosy_wait(loop, 1, &none), 0);
		EQUAL(cosy_wait(loop, 0, NULL), 0);
		EQUAL(cosy_wait_for(loop, &op, &none), -ETIME);
		EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 0);
	}
	EQUAL(write(fds[1], "x", 1), 1);
	handled = 0;
	for (int i = 0; i < signals; i++)
		EQUAL(cosy_async_call(loop, NULL, SYS_kill, (uint64_t)getpid(), SIGUSR1, 0, 0, 0, 0), 0);
	deliver(loop, &op, way);
	EQUAL(handled, signals);
	EQUAL(cosy_async_close(loop, NULL, fds[0]), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[1]), 0);
	EQUAL(cosy_loop_run(loop), 0);
}

int main(void)
{
	struct sigaction action = { .sa_handler = handle };
	struct cosy_loop *loop = make_loop();

	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	for (int way = 0; way < WAYS; way++) {
		for (int signals = 0; signals <= SIGNALS; signals++) {
			reads(loop, way, true, signals);
			reads(loop, way, false, signals);
		}
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
