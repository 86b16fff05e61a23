/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread makes the close of a socket with SO_LINGER. What begins to wait for the socket before the thread makes the
 * call is cancelled after it, also if the program closes the other descriptor of dup2() or dup3() meanwhile.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/file.h>

#include "descriptors.h"

enum closes { CLOSE, DUP2, DUP3, CLOSE_RANGE };

static char data[8 << 20];

/* Return one end of a connection that lingers for longer than any test takes, and set @peer. */
static int lingering_connection(int *peer)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	int fds[2];

	tcp_pair(fds);
	*peer = fds[1];
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return fds[0];
}

/* Let an operation close @fd. */
static void submit(struct cosy_loop *loop, struct cosy_async *op, enum closes how, int null, int fd)
{
	switch (how) {
	case CLOSE:
		EQUAL(cosy_async_close(loop, op, fd), 0);
		break;
	case DUP2:
		EQUAL(cosy_async_dup2(loop, op, null, fd), 0);
		break;
	case DUP3:
		EQUAL(cosy_async_dup3(loop, op, null, fd, O_CLOEXEC), 0);
		break;
	case CLOSE_RANGE:
		EQUAL(cosy_async_close_range(loop, op, (unsigned int)fd, (unsigned int)fd, 0), 0);
		break;
	}
}

/* @lingers: the close waits, and the program closes the other descriptor meanwhile. */
static void cancels(struct cosy_loop *loop, enum closes how, bool lingers)
{
	struct cosy_async locks = { 0 }, closes = { 0 }, receives = { 0 }, polls = { 0 }, sleeps = { 0 };
	/* Long enough for the thread to begin the call. */
	const struct timespec time = { .tv_nsec = 300000000 };
	int null = open("/dev/null", O_RDONLY), peer, fd = lingering_connection(&peer);
	int held = open("/tmp/async-lock", O_RDWR | O_CREAT, 0600), second = open("/tmp/async-lock", O_RDWR);
	struct pollfd poll = { .fd = fd, .events = POLLIN };
	char byte;

	while (lingers && send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	/* The only thread waits. */
	EQUAL(flock(held, LOCK_EX), 0);
	EQUAL(cosy_async_flock(loop, &locks, second, LOCK_EX), 0);
	submit(loop, &closes, how, null, fd);
	execute(loop);
	if (!lingers)
		EQUAL(cosy_async_recv(loop, &receives, fd, &byte, 1, 0), 0);
	EQUAL(cosy_async_poll(loop, &polls, &poll, 1, -1), 0);
	execute(loop);
	EQUAL(flock(held, LOCK_UN), 0);
	EQUAL(result_of(loop, &locks), 0);
	if (lingers) {
		EQUAL(cosy_async_nanosleep(loop, &sleeps, &time, NULL), 0);
		EQUAL(result_of(loop, &sleeps), 0);
		close(null);
		close(peer);
	}
	EQUAL(result_of(loop, &closes), how == DUP2 || how == DUP3 ? fd : 0);
	if (!lingers)
		EQUAL(result_of(loop, &receives), -ECANCELED);
	EQUAL(result_of(loop, &polls), -ECANCELED);
	if (!lingers) {
		close(null);
		close(peer);
	}
	close(fd);
	close(held);
	close(second);
}

int main(void)
{
	struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	struct cosy_loop *loop;

	EQUAL(cosy_loop_create(&loop, &options), 0);
	for (enum closes how = CLOSE; how <= CLOSE_RANGE; how++)
		cancels(loop, how, false);
	cancels(loop, DUP2, true);
	cancels(loop, DUP3, true);
	EQUAL(cosy_loop_destroy(loop), 0);
	unlink("/tmp/async-lock");
	return 0;
}
