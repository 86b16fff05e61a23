/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of COSY_ASYNC functions that the module leaves to user mode, and those that transfer much.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: compound-of-a-function-is-left-to-user-mode.c:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <netinet/tcp.h>

#include "serving.h"

#define MUCH (2 << 20)

/* User mode fills more than 1 MiB. Then the module makes the call. */
COSY_ASYNC static long fills(int fd, char *large)
{
	long rounds = 0;
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		memset(large, byte, MUCH);
		if (send(fd, large + MUCH - 1, 1, 0) != 1)
			return -1;
		rounds++;
	}
	return rounds;
}

static void large(void)
{
	static char buffer[MUCH];
	struct cosy_async op = { 0 };
	uint64_t before;
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, fills(fds[0], buffer), .op = &op), 0);
	settle();
	before = attempts();
	for (int round = 0; round < 3; round++) {
		EQUAL(send(fds[1], &"abc"[round], 1, 0), 1);
		settle();
		CHECK(receives(fds[1], (char[]){ "abc"[round], 0 }));
		EQUAL(buffer[0], "abc"[round]);
	}
	if (!__has_feature(address_sanitizer))
		EQUAL(attempts(), before);
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &op), 3);
	close_fd(fds[0]);
}

COSY_ASYNC static long all_bytes(int fd, char *buffer, size_t size)
{
	long sum = 0;
	ssize_t n;

	while ((n = recv(fd, buffer, size, MSG_WAITALL)) > 0) {
		sum += n;
		n = send(fd, buffer, (size_t)n, 0);
		sum = sum * 3 + n;
	}
	return sum;
}

COSY_ASYNC static int errors(int fd, char *nowhere)
{
	char byte;
	int seen = 0;

	for (int i = 0; i < 2; i++) {
		if (recv(fd, &byte, 1, 0) < 0 && errno == ENOTSOCK)
			seen |= 1;
		if (send(-1, &byte, 1, 0) < 0 && errno == EBADF)
			seen |= 2;
		if (recv(fd, nowhere, 1, MSG_DONTWAIT) < 0 && errno == ENOTSOCK)
			seen |= 4;
	}
	return seen;
}

COSY_ASYNC static int peers(int fd)
{
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	char bytes[8];
	int n = 0;

	while (recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &size) > 0) {
		/* The peer has no name. */
		n += size == 0 ? 1 : 100;
		size = sizeof(from);
		if (bytes[0] == 'q')
			break;
	}
	return n;
}

static void left(void)
{
	static char buffer[8];
	struct cosy_async op = { 0 };
	int fds[2], pipes[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, all_bytes(fds[0], buffer, 8), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "abcd", 4, 0), 4);
	settle();
	CHECK(cosy_async_pending(&op));
	EQUAL(send(fds[1], "efgh", 4, 0), 4);
	settle();
	CHECK(receives(fds[1], "abcdefgh"));
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &op), 8 * 3 + 8);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);

	EQUAL(pipe(pipes), 0);
	EQUAL(COSY_SPAWN(loop, errors(pipes[0], buffer), .op = &op), 0);
	EQUAL(result_of(loop, &op), 7);
	close_fd(pipes[0]);
	EQUAL(close(pipes[1]), 0);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	EQUAL(COSY_SPAWN(loop, peers(fds[0]), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	settle();
	EQUAL(send(fds[1], "q", 1, 0), 1);
	EQUAL(result_of(loop, &op), 2);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* More data than one call transfers. */
COSY_ASYNC static long send_twice(int fd, const char *bytes, size_t size)
{
	long n = send(fd, bytes, size, 0);

	return n + send(fd, bytes, size, 0) * 10;
}

static void sending(void)
{
	enum { LARGE = 1 << 19 };
	static char out[LARGE], in[2 * LARGE];
	struct cosy_async op = { 0 };
	int fds[2];

	for (size_t i = 0; i < LARGE; i++)
		out[i] = (char)(i * 13 + (i >> 9));
	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, send_twice(fds[0], out, LARGE), .op = &op), 0);
	receive_from_loop(fds[1], in, sizeof(in));
	EQUAL(result_of(loop, &op), LARGE * 11l);
	EQUAL_BYTES(in, out, LARGE);
	EQUAL_BYTES(in + LARGE, out, LARGE);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

/* Receiving from a socket of TCP in repair mode fails at once. */
static void repairing(void)
{
	const int on = 1, off = 0;
	struct cosy_async op = { 0 };
	char byte;
	int fds[2];

	open_tcp_pair(fds);
	/* It takes CAP_NET_ADMIN. */
	if (!setsockopt(fds[0], IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on))) {
		EQUAL(COSY_SPAWN(loop, make(RECEIVE, fds[0], &byte, 1), .op = &op), 0);
		EQUAL(result_of(loop, &op), -EPERM);
		EQUAL(setsockopt(fds[0], IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), 0);
	}
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	large();
	left();
	sending();
	repairing();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
