/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * compounds.h - common code of the tests of entries that run compounds.
 */
#ifndef COMPOUNDS_H
#define COMPOUNDS_H

#include "coroutine.h"

#include <netinet/in.h>
#include <sys/socket.h>

static __u64 echo, receive, send_all;

static inline void load_all(void)
{
	/* Until no more data can be received: exit 0. A call that fails: exit 1. */
	echo = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), BR(GOT, SLT, 0, 19), BR(GOT, EQ, 0, 18),
			      SEND(SENT, FD, BUF, GOT, MSG_NOSIGNAL), ADDI(ROUNDS, ROUNDS, 1),
			      JMP(0), EXIT(0), EXIT(1));
	receive = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), EXIT(2));
	send_all = LOAD_FOR_LOOPS(SEND(SENT, FD, BUF, SIZE, MSG_NOSIGNAL), EXIT(3));
}

/* Receive all data that has arrived. Return the number of bytes. */
static inline size_t drain(int fd)
{
	static char in[1 << 20];
	size_t received = 0;

	for (ssize_t n; (n = recv(fd, in, sizeof(in), MSG_DONTWAIT)) > 0;)
		received += (size_t)n;
	return received;
}

static inline __u64 receive_twice(void)
{
	return LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
}

static struct sockaddr_in listener_name = { .sin_family = AF_INET };

/* Listen at listener_name, on a free port. */
static inline int listen_for(int connections)
{
	socklen_t size = sizeof(listener_name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	listener_name.sin_port = 0;
	if (bind(listener, (struct sockaddr *)&listener_name, size) ||
	    listen(listener, connections) ||
	    getsockname(listener, (struct sockaddr *)&listener_name, &size))
		die("listen");
	return listener;
}

static inline int connect_one(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&listener_name, sizeof(listener_name)))
		die("connect");
	return fd;
}

#endif /* COMPOUNDS_H */
