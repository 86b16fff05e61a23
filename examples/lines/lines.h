/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lines.h - what both servers of this folder share: the protocol, and the socket that listens.
 *
 * A client sends lines. The server answers each with its characters in reverse order. It closes the
 * connection after the line "quit", after a line that is too long, and after the client has ended its
 * data. What follows the last end of a line is not answered.
 */
#ifndef LINES_H
#define LINES_H

#include <arpa/inet.h>
#include <errno.h>
#include <error.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LINES_BUFFER 4096 /* Bytes of the longest line, with its end. */

/**
 * struct lines - the state of the protocol for one connection
 * @in:   what was received and not answered yet
 * @have: its size
 * @out:  the answer
 * @size: its size
 *
 * An answer has the size of its line, so @out has room for all lines of @in.
 */
struct lines {
	char in[LINES_BUFFER];
	size_t have;
	char out[LINES_BUFFER];
	size_t size;
};

/* Append the answer of a line, without its end. */
static inline void lines_append(struct lines *l, const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		l->out[l->size + i] = line[size - 1 - i];
	l->out[l->size + size] = '\n';
	l->size += size + 1;
}

/**
 * lines_received() - answer the lines that are complete
 * @l: the state; @l->out and @l->size are set
 * @n: bytes that were received at @l->in + @l->have
 *
 * Return: false if the connection ends after the answer.
 */
static inline bool lines_received(struct lines *l, size_t n)
{
	const char *line = l->in, *end;
	bool goes_on = true;

	l->have += n;
	l->size = 0;
	while (goes_on && (end = memchr(line, '\n', (size_t)(l->in + l->have - line)))) {
		goes_on = end - line != 4 || memcmp(line, "quit", 4) != 0;
		if (goes_on)
			lines_append(l, line, (size_t)(end - line));
		line = end + 1;
	}
	l->have -= (size_t)(line - l->in);
	memmove(l->in, line, l->have);
	return goes_on && l->have < LINES_BUFFER;
}

/* Return true if accept(2) may succeed later: the process or the system has no room at the moment. */
static inline bool lines_accepts_later(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Return true if accept(2) has failed for one connection, which no longer exists. */
static inline bool lines_accepts_next(int error)
{
	return error != EBADF && error != EINVAL && error != ECANCELED && error != ENOTSOCK;
}

/* Listen on @port of 127.0.0.1, or on a free port if it is 0, and print the port. */
static inline int lines_listen(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((in_port_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, size) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		error(1, errno, "cannot listen on port %s", port);
	printf("listening on port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* Block SIGINT and SIGTERM, which end the server. The loop waits for them. */
static inline sigset_t lines_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signals;
}

#endif /* LINES_H */
