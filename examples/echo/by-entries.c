// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * by-entries.c - the server by operations of a loop of Cosy.
 *
 * An operation is a system call and the function that is called when it is complete. It
 * waits as long as necessary, and a send transfers all its data. So no call is repeated.
 */
#include "../common/acceptor.h"
#include "server.h"

#include <cosy/async.h>
#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection has one operation at a time. */
struct connection {
	struct cosy_async op;
	int fd;
	char buffer[BUFFER];
};

static struct server *server;
static struct cosy_loop *loop;

static void received(struct cosy_async *op);
static void sent(struct cosy_async *op);

static void close_connection(struct connection *c)
{
	/* The result is not needed. Only a loop that is being destroyed rejects it. */
	if (cosy_async_close(loop, NULL, c->fd))
		close(c->fd);
	free(c);
}

static void receive(struct connection *c)
{
	c->op.done = received;
	if (cosy_async_recv(loop, &c->op, c->fd, c->buffer, BUFFER, 0))
		close_connection(c);
}

static void received(struct cosy_async *op)
{
	struct connection *c = op->data;

	op->done = sent;
	if (op->result <= 0 ||
	    cosy_async_send(loop, op, c->fd, c->buffer, op->result, MSG_NOSIGNAL))
		close_connection(c);
}

/* If a send fails after a part of the data, the next operation returns the error. */
static void sent(struct cosy_async *op)
{
	struct connection *c = op->data;

	if (op->result < 0) {
		close_connection(c);
		return;
	}
	server->bytes += op->result;
	receive(c);
}

static void accepted(int fd)
{
	struct connection *c = malloc(sizeof(*c));

	server->connections++;
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->op = (struct cosy_async){ .data = c };
	receive(c);
}

static void stop(struct cosy_async *op)
{
	(void)op;
	cosy_loop_stop(loop);
}

/* Each connection has one operation. The others accept, and wait for a signal. */
static unsigned int count_operations(void)
{
	const rlim_t most = 1 << 20, others = ACCEPTOR_OPERATIONS + 1;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < most - others ? limit.rlim_cur + others : most;
}

void serve_by_entries(struct server *given)
{
	const struct cosy_loop_options options = {
		.size = sizeof(options),
		.entries = count_operations(),
	};
	struct cosy_async signal_op = { .done = stop };
	struct acceptor acceptor = {
		.listener = given->listener,
		.accepted = accepted,
	};
	int err = cosy_loop_create(&loop, &options);

	if (err)
		error(1, -err, "cannot begin");
	server = given;
	err = cosy_async_signal(loop, &signal_op, &server->signals, NULL);
	if (err)
		error(1, -err, "cannot wait for signals");
	acceptor.loop = loop;
	acceptor_start(&acceptor);
	cosy_loop_run(loop);
	/*
	 * Waiting operations complete with ECANCELED now, and their callbacks close all
	 * connections.
	 */
	while (cosy_loop_destroy(loop) == -EBUSY)
		cosy_wait(loop, 1, NULL);
}
