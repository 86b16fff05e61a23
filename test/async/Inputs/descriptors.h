/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptors.h - common code of the tests of operations on descriptors of all kinds.
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <termios.h>

#include "loop.h"

#define LARGE (4u << 20)

static struct cosy_loop *loop;

static inline void set_nonblock(int fd, bool nonblock)
{
	int flags = fcntl(fd, F_GETFL);

	EQUAL(fcntl(fd, F_SETFL, nonblock ? flags | O_NONBLOCK :
					    flags & ~O_NONBLOCK), 0);
}

static inline void end(int fd)
{
	struct cosy_async op = { 0 };

	EQUAL(cosy_async_close(loop, &op, fd), 0);
	EQUAL(result_of(loop, &op), 0);
}

/* @n readers that are submitted before the data receive it in their order. */
static inline void order_of(int in, int out, unsigned int n)
{
	struct cosy_async readers[8] = { 0 };
	char bytes[8] = "";

	for (unsigned int i = 0; i < n; i++)
		EQUAL(cosy_async_read(loop, &readers[i], in, &bytes[i], 1), 0);
	execute(loop);
	for (unsigned int i = 0; i < n; i++) {
		EQUAL(write(out, &(char){ (char)('a' + i) }, 1), 1);
		EQUAL(result_of(loop, &readers[i]), 1);
		EQUAL(bytes[i], 'a' + i);
	}
}

/* Two readers that are submitted before the data receive it in their order. */
static inline void order(int in, int out)
{
	struct cosy_async first = { 0 }, second = { 0 }, writer = { 0 };
	char a = 0, b = 0;

	EQUAL(cosy_async_read(loop, &first, in, &a, 1), 0);
	EQUAL(cosy_async_read(loop, &second, in, &b, 1), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, out, "1", 1), 0);
	EQUAL(result_of(loop, &writer), 1);
	EQUAL(result_of(loop, &first), 1);
	execute(loop);
	CHECK(cosy_async_pending(&second));
	EQUAL(write(out, "2", 1), 1);
	EQUAL(result_of(loop, &second), 1);
	EQUAL(a, '1');
	EQUAL(b, '2');

	/* Data that is already available. */
	EQUAL(write(out, "3", 1), 1);
	EQUAL(cosy_async_read(loop, &first, in, &a, 1), 0);
	EQUAL(result_of(loop, &first), 1);
	EQUAL(a, '3');
	EQUAL(cosy_async_read(loop, &first, in, &a, 0), 0);
	EQUAL(result_of(loop, &first), 0);
	for (unsigned int n = 3; n < 7; n++)
		order_of(in, out, n);
}

/* A terminal that passes on what is written to it at once, and does not change it. */
static inline void open_terminal(int *master, int *slave)
{
	struct termios mode;

	EQUAL(openpty(master, slave, NULL, NULL, NULL), 0);
	EQUAL(tcgetattr(*slave, &mode), 0);
	cfmakeraw(&mode);
	EQUAL(tcsetattr(*slave, TCSANOW, &mode), 0);
}

static inline void tcp_pair(int fds[2])
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(connect(fds[0], (struct sockaddr *)&name, size), 0);
	fds[1] = accept(listener, NULL, NULL);
	CHECK(fds[1] >= 0);
	close(listener);
}

/* An operation completes without an event of its descriptor. */
static inline void completes(struct cosy_async *op, int64_t result)
{
	static const struct timespec long_time = { .tv_sec = 600 };

	EQUAL(cosy_wait_for(loop, op, &long_time), 0);
	EQUAL(op->result, result);
}

/* Let an operation wait for input, and cancel it. epoll may continue to report the event. */
static inline void wait_for_input(int fd)
{
	struct cosy_async op = { 0 };
	uint64_t values[16];

	EQUAL(cosy_async_read(loop, &op, fd, values, sizeof(values)), 0);
	execute(loop);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
}

#endif /* DESCRIPTORS_H */
