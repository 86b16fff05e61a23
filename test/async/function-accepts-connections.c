/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * accept() and accept4() in COSY_ASYNC functions that are compounds: the module waits for
 * sockets that listen, whether or not these have O_NONBLOCK.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "functions.h"

/* The data that a function sends, or the end: threads may accept for it. */
static ssize_t receive(int fd, char *buffer, size_t size)
{
	ssize_t n;

	while ((n = recv(fd, buffer, size, MSG_DONTWAIT)) < 0) {
		EQUAL(errno, EAGAIN);
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	return n;
}

/* A listening socket of the family; @name is set to its name. */
static int listener_of(int family, int flags, struct sockaddr_storage *name, socklen_t *size)
{
	const struct sockaddr_in any = { .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_un unnamed = { .sun_family = AF_UNIX };
	int fd = socket(family, SOCK_STREAM | flags, 0);

	CHECK(fd >= 0);
	if (family == AF_UNIX)
		EQUAL(bind(fd, (const void *)&unnamed, sizeof(sa_family_t)), 0);
	else
		EQUAL(bind(fd, (const void *)&any, sizeof(any)), 0);
	EQUAL(listen(fd, 16), 0);
	*size = sizeof(*name);
	EQUAL(getsockname(fd, (void *)name, size), 0);
	return fd;
}

static int connect_to(const struct sockaddr_storage *name, socklen_t size)
{
	int fd = socket(name->ss_family, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	EQUAL(connect(fd, (const void *)name, size), 0);
	return fd;
}

/* Serve one connection after the other, until accept() fails. Return: their number. */
COSY_ASYNC static long serve(int listener, int *error)
{
	long served = 0;
	char buffer[16];
	ssize_t n;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
			send(fd, buffer, (size_t)n, MSG_NOSIGNAL);
		close(fd);
		served++;
	}
	*error = errno;
	return served;
}

static void serving(int family, int flags, bool by_cancel)
{
	enum { N = 3, CONNECTIONS = 9 };
	struct cosy_async ops[N] = { 0 };
	struct sockaddr_storage name;
	int errors[N], clients[N];
	uint64_t before = 0;
	long served = 0;
	socklen_t size;
	char got[4];
	int listener = listener_of(family, flags, &name, &size);

	for (int i = 0; i < N; i++)
		EQUAL(COSY_SPAWN(loop, serve(listener, &errors[i]), .op = &ops[i]), 0);
	settle();
	before = attempts();
	for (int round = 0; round < CONNECTIONS / N; round++) {
		for (int i = 0; i < N; i++) {
			clients[i] = connect_to(&name, size);
			EQUAL(send(clients[i], "abc", 3, 0), 3);
		}
		for (int i = 0; i < N; i++) {
			EQUAL(receive(clients[i], got, sizeof(got)), 3);
			EQUAL(shutdown(clients[i], SHUT_WR), 0);
		}
		for (int i = 0; i < N; i++) {
			EQUAL(receive(clients[i], got, sizeof(got)), 0);
			EQUAL(close(clients[i]), 0);
		}
		settle();
	}
	EQUAL(attempts(), before);
	if (by_cancel)
		EQUAL(cosy_cancel_fd(loop, listener), N);
	else
		EQUAL(shutdown(listener, SHUT_RD), 0);
	for (int i = 0; i < N; i++) {
		served += result_of(loop, &ops[i]);
		EQUAL(errors[i], by_cancel ? ECANCELED : EINVAL);
	}
	EQUAL(served, CONNECTIONS);
	cosy_cancel_fd(loop, listener);
	EQUAL(close(listener), 0);
}

/* The results of two calls; a descriptor counts as 1. */
COSY_ASYNC static long accept_twice(int listener, struct sockaddr *name, socklen_t *size)
{
	int fd = accept(listener, name, size);
	long first = fd < 0 ? -errno : 1;

	close(fd);
	fd = accept(listener, name, size);
	first = first * 1000 + (fd < 0 ? -errno : 1);
	close(fd);
	return first;
}

COSY_ASYNC static long accept_with(int listener, int flags, int *fds)
{
	for (int i = 0; i < 2; i++) {
		fds[i] = accept4(listener, NULL, NULL, flags);
		if (fds[i] < 0)
			return -errno;
	}
	return 0;
}

static long accepts(int fd)
{
	struct cosy_async op = { 0 };

	EQUAL(COSY_SPAWN(loop, accept_twice(fd, NULL, NULL), .op = &op), 0);
	return result_of(loop, &op);
}

static void results(void)
{
	struct sockaddr_storage name, peer, own;
	socklen_t size, peer_size = sizeof(peer), own_size = sizeof(own);
	struct cosy_async op = { 0 };
	int listener, fds[2], pipes[2], clients[2];
	char byte;

	EQUAL(pipe(pipes), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(accepts(-1), -EBADF * 1001);
	EQUAL(accepts(pipes[0]), -ENOTSOCK * 1001);
	EQUAL(accepts(fds[0]), -EINVAL * 1001);
	for (int i = 0; i < 2; i++) {
		cosy_cancel_fd(loop, pipes[i]);
		cosy_cancel_fd(loop, fds[i]);
		EQUAL(close(pipes[i]), 0);
		EQUAL(close(fds[i]), 0);
	}

	listener = listener_of(AF_INET, 0, &name, &size);
	EQUAL(COSY_SPAWN(loop, accept_twice(listener, (void *)&peer, &peer_size), .op = &op), 0);
	settle();
	clients[0] = connect_to(&name, size);
	EQUAL(receive(clients[0], &byte, 1), 0);
	settle();
	EQUAL(getsockname(clients[0], (void *)&own, &own_size), 0);
	EQUAL(peer_size, own_size);
	EQUAL_BYTES(&peer, &own, own_size);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), 1000 - ECANCELED);
	EQUAL(close(clients[0]), 0);

	for (int i = 0; i < 2; i++)
		clients[i] = connect_to(&name, size);
	EQUAL(COSY_SPAWN(loop, accept_with(listener, 12345, fds), .op = &op), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	EQUAL(COSY_SPAWN(loop, accept_with(listener, SOCK_CLOEXEC | SOCK_NONBLOCK, fds), .op = &op),
	      0);
	EQUAL(result_of(loop, &op), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		CHECK(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
		EQUAL(close(fds[i]), 0);
		EQUAL(close(clients[i]), 0);
	}
	cosy_cancel_fd(loop, listener);
	EQUAL(close(listener), 0);
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (int flags = 0; flags < 2; flags++) {
		/* shutdown() does not wake a thread that waits for a socket of this family. */
		serving(AF_UNIX, flags ? SOCK_NONBLOCK : 0, true);
		serving(AF_INET, flags ? SOCK_NONBLOCK : 0, !flags);
	}
	results();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
