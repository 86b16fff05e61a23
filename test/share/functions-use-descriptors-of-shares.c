/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * COSY_ASYNC functions accept connections into shares and serve them there: they are suspended while they
 * wait. Each has a share of its own, whose descriptors are closed with it.
 */
// RUN: %async-compile
// RUN: %everywhere
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <cosy.h>
#include <cosy/share.h>
#include <cosy/task.h>

#include "check.h"

#define CLIENTS	4
#define REQUESTS 20

static struct cosy_loop *loop;
static struct cosy_share *listeners;
static int served;

/* An answer is the request, each byte one more. */
COSY_ASYNC static int serve(struct cosy_share *share, int fd)
{
	char data[8];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			data[i]++;
		if (send(fd, data, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	}
	served++;
	/* Closes the connection, too. */
	cosy_share_destroy(share);
	return (int)n;
}

COSY_ASYNC static int accept_all(int listener)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct cosy_share *share;
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), own;

		CHECK(fd >= 0);
		/* A call of a function is one in the share. */
		CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
		CHECK(fd >= 1 << 30);
		EQUAL(cosy_share_create(&share, NULL), 0);
		own = cosy_share_give(listeners, fd, share);
		CHECK(own >= 0);
		EQUAL(COSY_SPAWN(loop, serve(share, own)), 0);
	}
	return close(listener);
}

static int listen_in(struct cosy_share *share, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = cosy_share_socket(share, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EQUAL(cosy_share_syscall(share, SYS_bind,
				 (uint64_t[6]){ (uint64_t)fd, (uintptr_t)address, size }), 0);
	EQUAL(cosy_share_syscall(share, SYS_listen, (uint64_t[6]){ (uint64_t)fd, CLIENTS }), 0);
	EQUAL(cosy_share_syscall(share, SYS_getsockname,
				 (uint64_t[6]){ (uint64_t)fd, (uintptr_t)address, (uintptr_t)&size }), 0);
	return fd;
}

/* A function that is cancelled closes the descriptors of its share, too. */
static void function_is_cancelled(void)
{
	struct cosy_async op = { 0 };
	struct cosy_share *share;
	int ends[2], fd;
	char c;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	EQUAL(cosy_share_create(&share, NULL), 0);
	fd = cosy_share_dup(share, ends[0]);
	CHECK(fd >= 0);
	close(ends[0]);
	EQUAL(COSY_SPAWN(loop, serve(share, fd), .op = &op), 0);
	for (int i = 0; i < 3; i++)
		cosy_wait(loop, 0, NULL);
	EQUAL(recv(ends[1], &c, 1, MSG_DONTWAIT), -1);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(cosy_wait_for(loop, &op, NULL), 0);
	EQUAL(recv(ends[1], &c, 1, MSG_DONTWAIT), 0);
	close(ends[1]);
}

int main(void)
{
	struct sockaddr_in address;
	struct cosy_async op = { 0 };
	int clients[CLIENTS], listener;
	char data[8];

	alarm(300);
	EQUAL(cosy_share_create(&listeners, NULL), 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	listener = listen_in(listeners, &address);
	EQUAL(COSY_SPAWN(loop, accept_all(listener), .op = &op), 0);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		EQUAL(connect(clients[i], (struct sockaddr *)&address, sizeof(address)), 0);
	}
	for (int i = 0; i < CLIENTS * REQUESTS; i++) {
		const int fd = clients[i % CLIENTS];

		EQUAL(send(fd, "abc", 3, 0), 3);
		while (recv(fd, data, sizeof(data), MSG_DONTWAIT | MSG_PEEK) < 3)
			cosy_wait(loop, 0, NULL);
		EQUAL(recv(fd, data, sizeof(data), 0), 3);
		EQUAL(memcmp(data, "bcd", 3), 0);
	}
	EQUAL(cosy_async_pending(&op), 0);
	EQUAL(op.result, 0);
	for (int i = 0; i < CLIENTS; i++)
		close(clients[i]);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(served, CLIENTS);
	function_is_cancelled();
	EQUAL(cosy_loop_destroy(loop), 0);
	cosy_share_destroy(listeners);
	return 0;
}
