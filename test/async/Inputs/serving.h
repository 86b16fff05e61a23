/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * serving.h - COSY_ASYNC functions that serve a connection, whose parts are compounds, and calls that
 * wait.
 */
#ifndef SERVING_H
#define SERVING_H

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "functions.h"

static inline bool receives(int fd, const char *text)
{
	char got[64];
	ssize_t n = (ssize_t)strlen(text);

	return recv(fd, got, sizeof(got), MSG_DONTWAIT) == n && !memcmp(got, text, (size_t)n);
}

struct connection {
	int fd;
	char in[64];
	char out[80];
	int replies;
	int last_error;
};

/* Set an errno that the function reads. */
__attribute__((noinline, unused)) static size_t reply(struct connection *c, ssize_t n)
{
	c->last_error = errno;
	c->out[0] = '<';
	memcpy(c->out + 1, c->in, (size_t)n);
	c->out[n + 1] = '>';
	errno = 1000 + c->replies;
	return (size_t)n + 2;
}

COSY_ASYNC __attribute__((unused)) static int serve(struct connection *c)
{
	ssize_t n;

	while ((n = recv(c->fd, c->in, sizeof(c->in), 0)) > 0) {
		if (send(c->fd, c->out, reply(c, n), MSG_NOSIGNAL) < 0)
			return -errno;
		if (errno != 1000 + c->replies)
			return 1;
		c->replies++;
	}
	return n < 0 ? -errno : 0;
}

enum call { SEND, WRITE, SENDMSG, RECEIVE, RECVMSG };

/* Make one call, and another one, because a single call is no compound. Return its result. */
COSY_ASYNC __attribute__((unused)) static long make(enum call call, int fd, char *bytes, size_t size)
{
	struct iovec piece = { bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	long n;

	if (call == SEND)
		n = send(fd, bytes, size, 0);
	else if (call == WRITE)
		n = write(fd, bytes, size);
	else if (call == SENDMSG)
		n = sendmsg(fd, &message, 0);
	else if (call == RECEIVE)
		n = recv(fd, bytes, size, 0);
	else
		n = recvmsg(fd, &message, 0);
	if (n < 0)
		n = -errno;
	close(-1);
	return n;
}

static int broken_pipes;

static inline void count_broken_pipe(int nr)
{
	(void)nr;
	broken_pipes++;
}

/* Let a call wait; one that sends a byte finds no room for it. */
static inline void make_and_wait(struct cosy_async *op, enum call call, int fd, size_t size)
{
	static char bytes[16 << 20];

	if (call < RECEIVE && size == 1)
		while (send(fd, bytes, 1, MSG_DONTWAIT) == 1)
			;
	EQUAL(COSY_SPAWN(loop, make(call, fd, bytes, size), .op = op), 0);
	settle();
	CHECK(cosy_async_pending(op));
}

static inline void open_tcp_pair(int fds[2])
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	EQUAL(listen(listener, 1), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(connect(fds[0], (struct sockaddr *)&name, size), 0);
	fds[1] = accept(listener, NULL, NULL);
	EQUAL(close(listener), 0);
}

#endif /* SERVING_H */
