/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A send or receive with MSG_DONTWAIT does not come before an earlier one of its socket that waits: it
 * fails with EAGAIN, as a call that would have to wait. One that peeks is made.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/socket.h>

#include "loop.h"

#define SIZE (1 << 20)

static char sent[SIZE], received[SIZE + 1];

/* Receive what is there. */
static size_t receive(int fd, size_t have)
{
	ssize_t n;

	while ((n = recv(fd, received + have, sizeof(received) - have, MSG_DONTWAIT)) > 0)
		have += (size_t)n;
	return have;
}

static void sends(struct cosy_loop *loop)
{
	struct cosy_async first = { 0 }, second = { 0 };
	size_t have = 0;
	int sockets[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	memset(sent, 'a', SIZE);
	EQUAL(cosy_async_send(loop, &first, sockets[0], sent, SIZE, 0), 0);
	for (int i = 0; i < 3; i++)
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	CHECK(cosy_async_pending(&first));
	have = receive(sockets[1], have);
	EQUAL(cosy_async_send(loop, &second, sockets[0], "b", 1, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &second), -EAGAIN);
	while (cosy_async_pending(&first)) {
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		have = receive(sockets[1], have);
	}
	EQUAL(first.result, SIZE);
	EQUAL(receive(sockets[1], have), SIZE);
	CHECK(!memchr(received, 'b', SIZE));
	EQUAL(cosy_async_send(loop, &second, sockets[0], "b", 1, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &second), 1);
	close(sockets[0]);
	close(sockets[1]);
}

static void receives(struct cosy_loop *loop)
{
	struct cosy_async first = { 0 }, second = { 0 }, peeks = { 0 };
	char one[4], two[4], three[4];
	int sockets[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	EQUAL(cosy_async_recv(loop, &first, sockets[0], one, 4, 0), 0);
	CHECK(cosy_wait(loop, 0, NULL) >= 0);
	EQUAL(cosy_async_recv(loop, &second, sockets[0], two, 4, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &second), -EAGAIN);
	EQUAL(cosy_async_recv(loop, &peeks, sockets[0], three, 4, MSG_DONTWAIT | MSG_PEEK), 0);
	EQUAL(result_of(loop, &peeks), -EAGAIN);
	EQUAL(send(sockets[1], "1234", 4, 0), 4);
	EQUAL(result_of(loop, &first), 4);
	EQUAL(memcmp(one, "1234", 4), 0);
	EQUAL(send(sockets[1], "5678", 4, 0), 4);
	EQUAL(cosy_async_recv(loop, &second, sockets[0], two, 4, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &second), 4);
	EQUAL(memcmp(two, "5678", 4), 0);
	close(sockets[0]);
	close(sockets[1]);
}

int main(void)
{
	struct cosy_loop *loop = make_loop();

	sends(loop);
	receives(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
