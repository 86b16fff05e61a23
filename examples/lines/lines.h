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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define LINES_MAX   4096 /* Bytes of the longest line, with its end. */
#define LINES_FIRST 256	 /* Bytes of the buffer of a connection that is idle. */

/**
 * struct lines - the state of the protocol for one connection
 * @buffer: what was received; answers replace the lines
 * @room:   its size: an idle connection keeps a small one
 * @have:   bytes in it
 * @size:   bytes of the answer, at its beginning
 */
struct lines {
	char *buffer;
	size_t room, have, size;
};

/* Prepare for the first line. Return false without memory. */
static inline bool lines_begin(struct lines *l)
{
	l->buffer = malloc(LINES_FIRST);
	l->room = LINES_FIRST;
	l->have = 0;
	return l->buffer;
}

static inline void lines_end(struct lines *l)
{
	free(l->buffer);
}

static inline bool lines_resize(struct lines *l, size_t room)
{
	char *buffer = l->room == room ? l->buffer : realloc(l->buffer, room);

	if (!buffer)
		return false;
	l->buffer = buffer;
	l->room = room;
	return true;
}

static inline void lines_reverse(char *line, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		const char c = line[i];

		line[i] = line[size - 1 - i];
		line[size - 1 - i] = c;
	}
}

/**
 * lines_received() - answer the lines that are complete
 * @l: the state; @l->size is set
 * @n: bytes that were received at @l->buffer + @l->have
 *
 * Return: false if the connection ends after the answer.
 */
static inline bool lines_received(struct lines *l, size_t n)
{
	char *line = l->buffer, *end;
	bool goes_on = true;

	l->have += n;
	while (goes_on && (end = memchr(line, '\n', (size_t)(l->buffer + l->have - line)))) {
		goes_on = end - line != 4 || memcmp(line, "quit", 4) != 0;
		if (goes_on) {
			lines_reverse(line, (size_t)(end - line));
			line = end + 1;
		}
	}
	l->size = (size_t)(line - l->buffer);
	return goes_on;
}

/**
 * lines_next() - remove the answer, which was sent, and make room for what follows
 * @l: the state
 *
 * Return: false if the connection ends: a line is too long, or there is no memory.
 */
static inline bool lines_next(struct lines *l)
{
	const bool full = l->have == l->room;

	l->have -= l->size;
	memmove(l->buffer, l->buffer + l->size, l->have);
	if (l->have == LINES_MAX)
		return false;
	if (full)
		return lines_resize(l, LINES_MAX);
	if (!l->have)
		lines_resize(l, LINES_FIRST);
	return true;
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

/* Return the operations that a loop needs: one for each descriptor, and the signal. */
static inline uint32_t lines_operations(void)
{
	const rlim_t most = 1 << 15;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > most)
		return most;
	return (uint32_t)limit.rlim_cur + 1;
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
