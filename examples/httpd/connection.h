/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * connection.h - connections of clients.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <sys/socket.h>

/** connections_init() - give the worker's loop buffers. Return: 0 or -errno */
int connections_init(void);

/**
 * connection_start() - serve a connection until it ends
 * @fd:	     the socket, which does not block; the connection closes it
 * @address: the client's address
 */
void connection_start(int fd, const struct sockaddr_storage *address);

/** connections_expire() - end the connections that have waited too long */
void connections_expire(void);

/** connections_report() - name the connection whose callback runs; for a handler of signals */
void connections_report(void);

/** connections_drain() - end the connections that wait for another request */
void connections_drain(void);

#endif /* CONNECTION_H */
