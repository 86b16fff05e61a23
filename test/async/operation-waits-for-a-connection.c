/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations that accept and connect, and a close that lingers.
 */
// RUN: %compile
// RUN: %everywhere
#include "descriptors.h"

#define CLIENTS 20

static void connections(bool nonblock)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	struct cosy_async accepts[CLIENTS] = { 0 }, connects[CLIENTS] = { 0 };
	struct cosy_async op = { 0 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), clients[CLIENTS];

	EQUAL(bind(listener, (struct sockaddr *)&address, size), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	set_nonblock(listener, nonblock);
	/* It is not listening yet. */
	EQUAL(cosy_async_accept(loop, &op, listener, NULL, NULL), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	EQUAL(listen(listener, 128), 0);
	for (int i = 0; i < CLIENTS; i++)
		EQUAL(cosy_async_accept4(loop, &accepts[i], listener, NULL,
					 NULL, SOCK_CLOEXEC), 0);
	execute(loop);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		set_nonblock(clients[i], nonblock);
		EQUAL(cosy_async_connect(loop, &connects[i], clients[i],
					 &address, size), 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		EQUAL(result_of(loop, &connects[i]), 0);
		CHECK(result_of(loop, &accepts[i]) >= 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		end(clients[i]);
		end((int)accepts[i].result);
	}
	end(listener);
	/* No socket is listening any more. */
	clients[0] = socket(AF_INET, SOCK_STREAM, 0);
	set_nonblock(clients[0], nonblock);
	EQUAL(cosy_async_connect(loop, &op, clients[0], &address, size), 0);
	EQUAL(result_of(loop, &op), -ECONNREFUSED);
	end(clients[0]);
}

/* close() waits until the socket has sent its data. Other operations do not wait for that. */
static void linger(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	const struct timespec soon = { .tv_nsec = 1000000 };
	struct cosy_async closes = { 0 }, timer = { 0 };
	static char bytes[1 << 16];
	int fds[2];

	tcp_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	EQUAL(cosy_async_close(loop, &closes, fds[0]), 0);
	EQUAL(cosy_async_timer(loop, &timer, &soon, 0), 0);
	EQUAL(result_of(loop, &timer), 0);
	CHECK(cosy_async_pending(&closes));
	while (recv(fds[1], bytes, sizeof(bytes), 0) > 0)
		;
	close(fds[1]);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(fcntl(fds[0], F_GETFD), -1);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		connections(nonblock);
	}
	linger();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
