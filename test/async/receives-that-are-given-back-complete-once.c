/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The module gives back more receives than a batch of attempts has: those of sockets for which it does
 * not wait, those that other calls on their descriptors must not overtake, and all of a loop that has
 * lost the module. Each waits on, and completes once.
 */
// RUN: %compile
// RUN: %everywhere
#include <linux/netlink.h>
#include <sys/resource.h>

#include "descriptors.h"

#define N 1000

static struct cosy_async ops[N], others[N];
static int fds[N][2];
static char bytes[N], more[N];

static void receive(unsigned int i, int flags)
{
	EQUAL(cosy_async_recv(loop, &ops[i], fds[i][0], &bytes[i], 1, flags), 0);
}

/* Each receive completes after its socket has something, in any order. */
static void all_receive(struct cosy_async *of, char *to)
{
	static const unsigned int step = 7; /* no divisor of N */

	for (unsigned int i = 0, at = 0; i < N; i++, at = (at + step) % N) {
		EQUAL(send(fds[at][1], &(char){ (char)at }, 1, 0), 1);
		completes(&of[at], 1);
		EQUAL(to[at], (char)at);
	}
}

static void make_pairs(void)
{
	for (unsigned int i = 0; i < N; i++)
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
}

static void end_pairs(void)
{
	for (unsigned int i = 0; i < N; i++) {
		end(fds[i][0]);
		end(fds[i][1]);
	}
}

static void other_sockets(void)
{
	for (unsigned int i = 0; i < N; i++) {
		fds[i][0] = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
		CHECK(fds[i][0] >= 0);
		receive(i, 0);
	}
	execute(loop);
	for (unsigned int i = 0; i < N; i++) {
		CHECK(cosy_async_pending(&ops[i]));
		EQUAL(cosy_cancel(loop, &ops[i]), 0);
		completes(&ops[i], -ECANCELED);
		end(fds[i][0]);
	}
}

/* The second receive of each socket goes another way, and must not be first. */
static void overtaken(void)
{
	make_pairs();
	for (unsigned int i = 0; i < N; i++)
		receive(i, 0);
	for (unsigned int i = 0; i < N; i++)
		EQUAL(cosy_async_recv(loop, &others[i], fds[i][0], &more[i], 1, MSG_WAITALL), 0);
	all_receive(ops, bytes);
	all_receive(others, more);
	end_pairs();
}

/* @executed: the receives wait in the module; otherwise they are still to be made. */
static void lost(bool executed)
{
	struct cosy_loop *all = loop;

	loop = make_loop();
	make_pairs();
	/* The loop opens the module. */
	receive(0, 0);
	execute(loop);
	for (unsigned int i = 1; i < N; i++)
		receive(i, 0);
	if (executed)
		execute(loop);
	lose_module(4 * N);
	all_receive(ops, bytes);
	end_pairs();
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

int main(void)
{
	const struct rlimit limit = { 4 * N, 4 * N };

	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	loop = make_loop();
	other_sockets();
	overtaken();
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = make_loop();
	lost(false);
	lost(true);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
