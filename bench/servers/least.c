// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * least.c - a server that makes the least calls that an answer needs: epoll_wait, recv and send, and for a
 * connection accept, epoll_ctl and close. What a web server takes more is its own work, and that of its files.
 *
 *	server-least ADDRESS
 *
 * ADDRESS is as of client.c. It knows only requests that arrive whole, and its answer has 1 KiB.
 */
#define _GNU_SOURCE
#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HEADER "HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n"
#define FIELD  "X: "
#define SIZE   240 /* of the header, as those of web servers */
#define EVENTS 64

static char answer[SIZE + 1024];

static void make_answer(void)
{
	memset(answer, 'x', sizeof(answer));
	memcpy(answer, HEADER FIELD, strlen(HEADER FIELD));
	memcpy(answer + SIZE - 4, "\r\n\r\n", 4);
}

static int listen_on(const char *text)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons((in_port_t)atoi(text)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const bool is_path = strchr(text, '/');
	const int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	memcpy(un.sun_path, text, strnlen(text, sizeof(un.sun_path) - 1));
	if (fd < 0 || (is_path ? bind(fd, (struct sockaddr *)&un, sizeof(un)) :
				 bind(fd, (struct sockaddr *)&in, sizeof(in))) || listen(fd, SOMAXCONN))
		err(1, "cannot listen on %s", text);
	return fd;
}

static void add(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static void serve(int fd)
{
	char request[512];
	const ssize_t size = recv(fd, request, sizeof(request), 0);
	const bool last = size <= 0 || memmem(request, (size_t)size, "close", 5);

	/* Before a close, the end of the connection leaves with the data. */
	if (size > 0 && send(fd, answer, sizeof(answer), MSG_NOSIGNAL | (last ? MSG_MORE : 0)) < 0)
		warn("send");
	if (last)
		close(fd);
}

int main(int argc, char **argv)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event events[EVENTS];
	int listener, fd;

	if (argc != 2)
		errx(2, "usage: server-least ADDRESS");
	make_answer();
	listener = listen_on(argv[1]);
	add(epoll, listener);
	for (;;) {
		const int count = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.fd != listener) {
				serve(events[i].data.fd);
				continue;
			}
			fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
			if (fd >= 0)
				add(epoll, fd);
		}
	}
}
