/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * accept.h - accept connections.
 */
#ifndef ACCEPT_H
#define ACCEPT_H

#include <stdbool.h>

/* Accepts of one socket that wait at once. */
#define ACCEPT_OPERATIONS 8

/**
 * accept_start() - accept connections of sockets, and start them
 * @listeners: the sockets
 * @sockets:   their number, at most CONFIG_LISTEN_MAX
 */
void accept_start(const int *listeners, unsigned int sockets);

/** accept_continue() - there is room for one more connection: start one that waits for that */
void accept_continue(void);

/** accept_shed() - limit the backlog if the server is overloaded; @seconds have passed since the last call */
void accept_shed(unsigned int seconds);

/** accept_pending() - return true while connections may be accepted, also after accept_stop() */
bool accept_pending(void);

/** accept_stop() - accept no more connections; those that have been accepted are started */
void accept_stop(void);

#endif /* ACCEPT_H */
