// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An echo server with epoll, and its clients
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t && %run-all %t 5 | FileCheck %s
// CHECK: client 0: 100 messages, 3325 bytes
// CHECK: client 4: 100 messages, 3325 bytes
// CHECK: server: 5 clients, 16625 bytes
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int serve(int listener, int clients, unsigned long *bytes)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener }, events[16];
	int epoll = epoll_create1(EPOLL_CLOEXEC), served = 0, n, fd;
	char buf[512];
	ssize_t got;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event))
		die("epoll");
	COSY_START;
	while (served < clients) {
		n = epoll_wait(epoll, events, 16, -1);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			die("epoll_wait");
		}
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener) {
				fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
				if (fd < 0) {
					if (errno == EAGAIN)
						continue;
					die("accept4");
				}
				event.events = EPOLLIN | EPOLLRDHUP;
				event.data.fd = fd;
				if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
					die("epoll_ctl");
				continue;
			}
			fd = events[i].data.fd;
			while ((got = recv(fd, buf, sizeof(buf), 0)) > 0) {
				*bytes += got;
				if (send(fd, buf, got, MSG_NOSIGNAL) != got)
					break;
			}
			if (got == 0 || (got < 0 && errno != EAGAIN)) {
				close(fd);
				served++;
			}
		}
	}
	COSY_END;
	close(epoll);
	return served;
}

static int talk(const struct sockaddr_un *address, socklen_t length, int number)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), messages = 0;
	unsigned long bytes = 0;
	char out[100], in[100];

	if (connect(fd, (const struct sockaddr *)address, length))
		die("connect");
	for (int i = 0; i < 100; i++) {
		ssize_t size = 1 + i * 7 % 67, have = 0, n;

		if (size > 66)
			size = 66;
		memset(out, 'a' + i % 26, size);
		COSY_START;
		n = send(fd, out, size, 0);
		while (have < size && (n = recv(fd, in + have, size - have, 0)) > 0)
			have += n;
		COSY_END;
		if (n <= 0 || memcmp(in, out, size))
			return 1;
		bytes += size;
		messages++;
	}
	shutdown(fd, SHUT_WR);
	while (read(fd, in, sizeof(in)) > 0)
		;
	dprintf(STDOUT_FILENO, "client %d: %d messages, %lu bytes\n", number, messages, bytes);
	return 0;
}

int main(int argc, char *argv[])
{
	int clients = argc > 1 ? atoi(argv[1]) : 1, listener, status, failed = 0;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	unsigned long bytes = 0;
	socklen_t length;

	/* A name without a file. */
	length = offsetof(struct sockaddr_un, sun_path) +
		 snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cosy-echo-%d", getpid()) + 1;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 16))
		die("listen");
	/* Sequentially, so that they print in this order. */
	if (!fork()) {
		for (int i = 0; i < clients; i++)
			if (talk(&address, length, i))
				exit(1);
		exit(0);
	}
	clients = serve(listener, clients, &bytes);
	while (wait(&status) > 0)
		failed |= status;
	printf("server: %d clients, %lu bytes\n", clients, bytes);
	return failed != 0;
}
