/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * dup2() or close_range() closes a socket with SO_LINGER that has data to send: a thread makes it, and the loop
 * goes on. The operation completes when the socket does not linger any more, as the call returns natively.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/resource.h>

#include "descriptors.h"

/* Beyond what a loop knows of its own, as it does not know what only the ring uses. */
#define HIGH	3000

static char data[8 << 20];

/* Make a connection whose peer receives nothing, and fill it. Return the one end, and set @peer. */
static int full_connection(int *peer)
{
	struct pollfd room = { .events = POLLOUT };
	int fds[2];

	tcp_pair(fds);
	room.fd = fds[0];
	*peer = fds[1];
	/* The peer may still take all that there is: until there is no room for some time. */
	do {
		while (send(room.fd, data, sizeof(data), MSG_DONTWAIT) > 0)
			;
	} while (poll(&room, 1, 1000) == 1);
	return room.fd;
}

/* Close such a socket from @number on, and all others up to @end: a range, unless that is 0. */
static void closes(struct cosy_loop *loop, int number, unsigned int end)
{
	/* Longer than any test takes: a loop that waits for it does not end. */
	const struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	/* Long enough for the thread to make the call, and for a completion that comes too early. */
	const struct timespec time = { .tv_nsec = 300000000 };
	struct cosy_async op = { 0 }, asks = { 0 };
	int peer, connection = full_connection(&peer), null = open("/dev/null", O_RDONLY);
	/* The peer is not the next descriptor. */
	int fd = fcntl(connection, F_DUPFD, number);

	close(connection);
	EQUAL(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	if (number < HIGH) {
		EQUAL(cosy_async_send(loop, &op, fd, data, 0, 0), 0);
		EQUAL(result_of(loop, &op), 0);
	}
	if (end)
		EQUAL(cosy_async_close_range(loop, &op, (unsigned int)number, end, 0), 0);
	else
		EQUAL(cosy_async_dup2(loop, &op, null, fd), 0);
	CHECK(cosy_wait(loop, 0, NULL) >= 0);
	EQUAL(cosy_async_getpid(loop, &asks), 0);
	EQUAL(result_of(loop, &asks), getpid());
	EQUAL(cosy_async_nanosleep(loop, &asks, &time, NULL), 0);
	EQUAL(result_of(loop, &asks), 0);
	CHECK(cosy_async_pending(&op));
	/* Its end ends the wait. */
	close(peer);
	EQUAL(result_of(loop, &op), end ? 0 : fd);
	EQUAL(fcntl(fd, F_GETFD), end ? -1 : 0);
	close(fd);
}

int main(void)
{
	struct cosy_loop *loop = make_loop();
	struct rlimit limit;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK(limit.rlim_max > HIGH);
	limit.rlim_cur = limit.rlim_max;
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	closes(loop, 100, 0);
	closes(loop, 100, 101);
	closes(loop, HIGH, HIGH + 1000);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
