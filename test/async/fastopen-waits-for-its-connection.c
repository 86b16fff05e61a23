/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sendto() and sendmsg() with MSG_FASTOPEN, which open a connection: they wait for it, as blocking
 * calls do, and then send all their data. So do these calls in COSY_ASYNC functions.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <netinet/in.h>
#include <sys/epoll.h>

#include "functions.h"

#define SIZE (4 << 20)
/* At least max_waiters of the module. */
#define WAITERS 64

static struct sockaddr_in name = { .sin_family = AF_INET };
static char out[SIZE], in[SIZE];

static void begin(struct cosy_async *op, int fd, bool by_message, size_t size)
{
	static struct iovec piece;
	static struct msghdr message = {
		.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &piece,
		.msg_iovlen = 1,
	};

	piece = (struct iovec){ out, size };
	*op = (struct cosy_async){ 0 };
	if (by_message)
		EQUAL(cosy_async_sendmsg(loop, op, fd, &message, MSG_FASTOPEN), 0);
	else
		EQUAL(cosy_async_sendto(loop, op, fd, out, size, MSG_FASTOPEN, &name,
					sizeof(name)), 0);
}

static void opening(int listener, bool by_message, int flags, size_t size)
{
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0), peer = -1;
	struct cosy_async op;
	size_t received = 0;

	begin(&op, fd, by_message, size);
	while (received < size || cosy_async_pending(&op)) {
		ssize_t n;

		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		if (peer < 0)
			peer = accept(listener, NULL, NULL);
		n = recv(peer, in + received, size - received, MSG_DONTWAIT);
		if (n > 0)
			received += (size_t)n;
		else if (!cosy_async_pending(&op))
			EQUAL(op.result, (long long)size);
	}
	EQUAL(op.result, (long long)size);
	EQUAL_BYTES(in, out, size);
	EQUAL(cosy_cancel_fd(loop, fd), 0);
	close(fd);
	close(peer);
}

/* Make a call, and another one, because a single call is no compound. Return its result. */
COSY_ASYNC static long open_and_send(int fd, bool by_message)
{
	struct iovec piece = { out, 5 };
	struct msghdr message = {
		.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &piece,
		.msg_iovlen = 1,
	};
	long n = by_message ? sendmsg(fd, &message, MSG_FASTOPEN) :
			      sendto(fd, out, 5, MSG_FASTOPEN, (struct sockaddr *)&name,
				     sizeof(name));

	if (n < 0)
		n = -errno;
	close(-1);
	return n;
}

/* Fill the backlog of a listening socket. Then another connection takes one second or more. */
static int fill(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	EQUAL(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	return fd;
}

/*
 * @crowded: so many wait for the socket that the module cannot wait for it. @lost: the module is
 * lost while the call waits.
 */
static void in_function(bool by_message, bool crowded, bool lost)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	int other = -1, epolls[WAITERS], peer;
	struct epoll_event event = { .events = EPOLLIN };
	socklen_t size = sizeof(name);
	struct cosy_async op = { 0 };

	name = (struct sockaddr_in){ .sin_family = AF_INET };
	EQUAL(listen(listener, 0), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	if (lost)
		other = fill();
	for (int i = 0; crowded && i < WAITERS; i++) {
		epolls[i] = epoll_create1(0);
		EQUAL(epoll_ctl(epolls[i], EPOLL_CTL_ADD, fd, &event), 0);
	}
	EQUAL(COSY_SPAWN(loop, open_and_send(fd, by_message), .op = &op), 0);
	if (lost) {
		settle();
		CHECK(cosy_async_pending(&op));
		close_loops();
		EQUAL(close(accept(listener, NULL, NULL)), 0);
		EQUAL(close(other), 0);
	}
	EQUAL(result_of(loop, &op), 5);
	for (int i = 0; crowded && i < WAITERS; i++)
		EQUAL(close(epolls[i]), 0);
	peer = accept(listener, NULL, NULL);
	EQUAL(recv(peer, in, 5, MSG_WAITALL), 5);
	close_fd(fd);
	EQUAL(close(peer), 0);
	EQUAL(close(listener), 0);
}

int main(void)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), fd;
	socklen_t size = sizeof(name);
	struct cosy_async op;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + (i >> 8));
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(bind(listener, (struct sockaddr *)&name, size), 0);
	EQUAL(listen(listener, 4), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	for (int flags = 0; flags < 2; flags++) {
		opening(listener, false, flags ? SOCK_NONBLOCK : 0, SIZE);
		opening(listener, true, flags ? SOCK_NONBLOCK : 0, 5);
	}
	close(listener);
	for (int by_message = 0; by_message < 2; by_message++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		begin(&op, fd, by_message, 5);
		EQUAL(result_of(loop, &op), -ECONNREFUSED);
		EQUAL(cosy_cancel_fd(loop, fd), 0);
		close(fd);
	}
	for (int i = 0; i < 6; i++) {
		in_function(i & 1, i & 2, i & 4);
		if (i < 4)
			continue;
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
