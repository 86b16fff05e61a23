/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy-io.h - the connections of memcached's workers, by operations of <cosy/async.h>.
 *
 * A worker has a loop in place of libevent's. A connection has at most one operation: it receives what
 * the state machine will read, sends what it has written, or waits until the socket is ready. The
 * machine does not know: where it waits for a socket, its next read or sendmsg returns the result of the
 * operation. Other threads, which listen and keep the time, use libevent as before. All functions
 * are called by the thread of the connection.
 */
#ifndef COSY_IO_H
#define COSY_IO_H

#include <cosy/async.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

struct conn;

/* Of memcached.c. */
void event_handler(int fd, short which, void *conn);
bool rbuf_alloc(struct conn *c);

enum io_kind { IO_NONE, IO_RECEIVE, IO_SEND, IO_READY };

/**
 * struct io - the operation of a connection
 * @op:	    the operation
 * @poll:   for waiting until the socket is ready
 * @next:   in the list of connections that have been added
 * @out:    the data that is sent
 * @result: of the operation, until the machine has taken it
 * @requests: commands that the machine may still execute before others have their turn
 * @kind:   what is pending
 * @done:   of what @result is
 * @added:  the machine is to be called when the socket is ready
 * @listed: in that list
 */
struct io {
	struct cosy_async op;
	struct pollfd poll;
	struct conn *next;
	char *out;
	long result;
	int requests;
	enum io_kind kind, done;
	bool added, listed;
};

/** io_run() - be the event loop of a worker until io_stop(); @notified is called when @fd is readable */
void io_run(int fd, void (*notified)(int fd, short which, void *arg), void *arg);

/** io_stop() - let io_run() of this thread return */
void io_stop(void);

/** io_add() - event_add() for a connection; returns -1 if it fails */
int io_add(struct conn *c);

/** io_del() - event_del() for a connection */
void io_del(struct conn *c);

/** io_update() - wait for c->ev_flags from now on; false if the connection is libevent's */
bool io_update(struct conn *c, int flags);

/** io_wait() - receive to the read buffer, which is kept; false to wait until the socket is ready */
bool io_wait(struct conn *c);

/** io_received() - test whether the next io_read() returns what was received */
bool io_received(const struct conn *c);

/** io_cancel() - let the connection's read fail; false if nothing is pending */
bool io_cancel(struct conn *c);

/** io_close() - close(), after what waits for the socket was cancelled */
void io_close(int fd);

/** io_sent() - test whether the next io_sendmsg() returns the result of the last one */
bool io_sent(const struct conn *c);

/** io_read() - read() of a connection */
ssize_t io_read(struct conn *c, void *buffer, size_t size);

/**
 * io_sendmsg() - sendmsg() of a connection
 *
 * If the machine would wait for the next request, the answer is sent together with a receive, and this
 * returns as if it were sent already. Otherwise it may fail with EAGAIN; then the machine is called when
 * the answer was sent.
 */
ssize_t io_sendmsg(struct conn *c, struct msghdr *message, int flags);

#endif /* COSY_IO_H */
