/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * server.h - the same server in three versions.
 *
 * Each version sends back what it receives, until the client has sent all (it may shut down
 * its side) or the connection fails. Each accepts ACCEPTOR_OPERATIONS connections at once,
 * and waits ACCEPTOR_PAUSE milliseconds if it has no descriptor for one. It returns after
 * SIGINT or SIGTERM, which the caller has blocked. Then all connections are closed.
 */
#ifndef SERVER_H
#define SERVER_H

#include <signal.h>
#include <stdint.h>

enum {
	BUFFER = 64 * 1024,	/* bytes of a connection that are not sent yet */
};

/**
 * struct server - a server
 * @listener:    the socket that accepts
 * @signals:     SIGINT and SIGTERM
 * @connections: out: number of accepted connections
 * @bytes:       out: number of bytes sent back
 */
struct server {
	int listener;
	sigset_t signals;
	uint64_t connections, bytes;
};

/** serve_by_epoll() - serve by non-blocking calls, and epoll(7) */
void serve_by_epoll(struct server *server);

/** serve_by_uring() - serve by io_uring(7) */
void serve_by_uring(struct server *server);

/** serve_by_entries() - serve by operations of cosy-async(7) */
void serve_by_entries(struct server *server);

#endif /* SERVER_H */
