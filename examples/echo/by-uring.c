// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * by-uring.c - the server by operations of io_uring.
 *
 * Operations and callbacks as in by-entries.c. But a send may transfer a part of its data,
 * and before the ring is closed, outstanding operations must be cancelled.
 */
#include "../common/acceptor.h"
#include "ring.h"
#include "server.h"

#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENTRIES = 256 };

struct operation {
	void (*done)(struct operation *op, int result);
};

/* A connection has one operation at a time. */
struct connection {
	struct operation op;
	int fd;
	unsigned int received, sent;	/* bytes of the buffer */
	char buffer[BUFFER];
};

static struct server *server;
static struct ring ring;
static unsigned int outstanding;
static bool stopping;

static void accept_next(struct operation *op, int result);
static void received(struct operation *op, int result);
static void sent(struct operation *op, int result);

static void submit(struct operation *op, int opcode, int fd, const void *buffer,
		   unsigned int size, unsigned int flags)
{
	struct io_uring_sqe *sqe = ring_entry(&ring, op);

	sqe->opcode = opcode;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buffer;
	sqe->len = size;
	sqe->msg_flags = flags;
	outstanding++;
}

static void close_connection(struct connection *c)
{
	close(c->fd);
	free(c);
}

static void receive(struct connection *c)
{
	c->op.done = received;
	submit(&c->op, IORING_OP_RECV, c->fd, c->buffer, BUFFER, 0);
}

static void send_rest(struct connection *c)
{
	c->op.done = sent;
	submit(&c->op, IORING_OP_SEND, c->fd, c->buffer + c->sent,
	       c->received - c->sent, MSG_NOSIGNAL);
}

static void received(struct operation *op, int result)
{
	struct connection *c = (struct connection *)op;

	if (result <= 0 || stopping) {
		close_connection(c);
		return;
	}
	c->received = result;
	c->sent = 0;
	send_rest(c);
}

static void sent(struct operation *op, int result)
{
	struct connection *c = (struct connection *)op;

	if (result < 0 || stopping) {
		close_connection(c);
		return;
	}
	c->sent += result;
	server->bytes += result;
	if (c->sent < c->received)
		send_rest(c);
	else
		receive(c);
}

static void start(int fd)
{
	struct connection *c = malloc(sizeof(*c));

	server->connections++;
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	receive(c);
}

static void accepted(struct operation *op, int result)
{
	static const struct __kernel_timespec pause = { .tv_nsec = ACCEPTOR_PAUSE * 1000000L };

	if (stopping) {
		if (result >= 0)
			close(result);
		return;
	}
	if (result == -EBADF || result == -EINVAL)
		error(1, -result, "cannot accept");
	if (result >= 0)
		start(result);
	if (result < 0 && acceptor_can_retry(-result)) {
		op->done = accept_next;
		submit(op, IORING_OP_TIMEOUT, -1, &pause, 1, 0);
	} else {
		accept_next(op, 0);
	}
}

/* After a pause, accept again, whether or not the pause was complete. */
static void accept_next(struct operation *op, int result)
{
	(void)result;
	if (stopping)
		return;
	op->done = accepted;
	submit(op, IORING_OP_ACCEPT, server->listener, NULL, 0, SOCK_CLOEXEC);
}

static void ignore(struct operation *op, int result)
{
	(void)op;
	(void)result;
}

static void stop(struct operation *op, int result)
{
	struct io_uring_sqe *sqe = ring_entry(&ring, op);

	(void)result;
	stopping = true;
	op->done = ignore;
	sqe->opcode = IORING_OP_ASYNC_CANCEL;
	sqe->cancel_flags = IORING_ASYNC_CANCEL_ANY;
	outstanding++;
}

void serve_by_uring(struct server *given)
{
	int signal_fd = signalfd(-1, &given->signals, SFD_CLOEXEC);
	struct operation accepts[ACCEPTOR_OPERATIONS], signal_op = { .done = stop };
	struct signalfd_siginfo info;
	struct io_uring_cqe cqe;

	if (signal_fd < 0)
		error(1, errno, "cannot begin");
	server = given;
	ring_open(&ring, ENTRIES);
	submit(&signal_op, IORING_OP_READ, signal_fd, &info, sizeof(info), 0);
	for (int i = 0; i < ACCEPTOR_OPERATIONS; i++)
		accept_next(&accepts[i], 0);
	while (outstanding > 0) {
		ring_enter(&ring, 1);
		while (ring_next(&ring, &cqe)) {
			struct operation *op = (struct operation *)cqe.user_data;

			outstanding--;
			op->done(op, cqe.res);
		}
	}
	ring_close(&ring);
	close(signal_fd);
}
