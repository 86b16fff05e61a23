/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sendto() and sendmsg() with MSG_FASTOPEN, which open a connection: they wait for it, as blocking
 * calls do, and then send all their data.
 */
// RUN: %compile
// RUN: %everywhere
#include <netinet/in.h>
#include <sys/socket.h>

#include "loop.h"

#define SIZE (4 << 20)

static struct cosy_loop *loop;
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
	CHECK(!memcmp(in, out, size));
	EQUAL(cosy_cancel_fd(loop, fd), 0);
	close(fd);
	close(peer);
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
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
