/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A call that a COSY_ASYNC function waits for ends when the connection does: closed, reset or shut down.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %vm env COSY_EXECUTOR=kernel COSY_STATS=1 %t 2>&1 | %FileCheck %s
// CHECK-DAG: passed
// CHECK-DAG: peer-ends-the-call-of-a-function.c:{{[0-9]+}}: executor=kernel runs=
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <sys/un.h>

#include "serving.h"

/* Close a peer without receiving, or reset it, while a call waits. Return the call's result. */
static long make_and_end(enum call call, int fds[2], size_t size)
{
	const struct linger linger = { .l_onoff = 1 };
	struct cosy_async op = { 0 };

	make_and_wait(&op, call, fds[0], size);
	EQUAL(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	EQUAL(close(fds[1]), 0);
	return result_of(loop, &op);
}

static void error_is(int fd, int error)
{
	int found = 0;
	socklen_t size = sizeof(found);

	EQUAL(getsockopt(fd, SOL_SOCKET, SO_ERROR, &found, &size), 0);
	EQUAL(found, error);
	close_fd(fd);
}

static void ending(void)
{
	int fds[2];

	signal(SIGPIPE, count_broken_pipe);
	for (enum call call = SEND; call <= SENDMSG; call++) {
		open_pair(fds);
		EQUAL(make_and_end(call, fds, 1), -ECONNRESET);
		error_is(fds[0], 0);
	}
	for (enum call call = SEND; call <= WRITE; call++) {
		open_pair(fds);
		CHECK(make_and_end(call, fds, 16 << 20) > 0);
		error_is(fds[0], 0);
		open_tcp_pair(fds);
		CHECK(make_and_end(call, fds, 16 << 20) > 0);
		error_is(fds[0], ECONNRESET);
	}
	for (enum call call = RECEIVE; call <= RECVMSG; call++) {
		open_tcp_pair(fds);
		EQUAL(make_and_end(call, fds, 0), 0);
		error_is(fds[0], ECONNRESET);
		open_tcp_pair(fds);
		EQUAL(make_and_end(call, fds, 1), -ECONNRESET);
		error_is(fds[0], 0);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
}

/* One side is shut down, in one direction, while a call waits to send. epoll does not notice. */
static void ending_by_shutdown(void)
{
	struct cosy_loop_info info;
	int fds[2];

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	if (!info.kernel)
		return;
	signal(SIGPIPE, count_broken_pipe);
	for (int i = 0; i < 6; i++) {
		struct cosy_async op = { 0 };

		open_pair(fds);
		make_and_wait(&op, (enum call)(i % 3), fds[0], 1);
		EQUAL(shutdown(fds[i < 3], i < 3 ? SHUT_RD : SHUT_WR), 0);
		EQUAL(result_of(loop, &op), -EPIPE);
		close_fd(fds[0]);
		EQUAL(close(fds[1]), 0);
	}
	EQUAL(broken_pipes, 0);
	signal(SIGPIPE, SIG_IGN);
}

/* Receive datagrams, by one of two calls, until the socket is shut down. */
COSY_ASYNC static int count_datagrams(int fd, bool by_recv)
{
	int n = 0;
	char c;

	while ((by_recv ? recv(fd, &c, 1, 0) : read(fd, &c, 1)) > 0)
		n++;
	return n;
}

COSY_ASYNC static int count_connections(int fd)
{
	int n = 0, accepted;

	while ((accepted = accept(fd, NULL, NULL)) >= 0) {
		close(accepted);
		n++;
	}
	return n * 1000 + errno;
}

static void shutting_down(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct cosy_async accepting = { 0 }, other = { 0 };

	EQUAL(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(COSY_SPAWN(loop, count_connections(listener), .op = &accepting), 0);
	EQUAL(COSY_SPAWN(loop, count_connections(listener), .op = &other), 0);
	settle();
	EQUAL(shutdown(listener, SHUT_RD), 0);
	EQUAL(result_of(loop, &accepting), EINVAL);
	EQUAL(result_of(loop, &other), EINVAL);
	close_fd(listener);
	for (int by_recv = 0; by_recv < 2; by_recv++) {
		struct cosy_async op = { 0 };
		int fds[2];

		EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
		EQUAL(COSY_SPAWN(loop, count_datagrams(fds[0], by_recv), .op = &op), 0);
		settle();
		EQUAL(send(fds[1], "x", 1, 0), 1);
		settle();
		EQUAL(shutdown(fds[0], SHUT_RD), 0);
		EQUAL(result_of(loop, &op), 1);
		EQUAL(COSY_SPAWN(loop, count_datagrams(fds[0], by_recv), .op = &op), 0);
		EQUAL(result_of(loop, &op), 0);
		close_fd(fds[0]);
		close_fd(fds[1]);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	ending();
	ending_by_shutdown();
	shutting_down();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
