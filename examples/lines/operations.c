// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * operations.c - a server of lines, by operations: the state machine of an event-driven server.
 *
 *	cosy-cc -D_GNU_SOURCE -O2 operations.c -o operations
 *	./operations PORT
 *
 * The same as functions.c. docs/servers.md explains it.
 */
#include "lines.h"

#include <cosy/async.h>
#include <unistd.h>

/**
 * struct connection - a connection
 * @op:	     it has one operation at a time, so nothing refers to it while a callback runs
 * @fd:	     the socket
 * @goes_on: false if it is closed after the answer
 * @lines:   the buffer belongs to the loop while @op is pending
 */
struct connection {
	struct cosy_async op;
	int fd;
	bool goes_on;
	struct lines lines;
};

static struct cosy_loop *loop;
static unsigned long served;

static void received(struct cosy_async *op);
static void sent(struct cosy_async *op);
static void accepted(struct cosy_async *op);

/* No operation is pending, so the connection can be freed. The close does not use it. */
static void end(struct connection *c)
{
	/* A loop without an entry rejects the operation, and so does one that is being destroyed. */
	if (cosy_async_close(loop, NULL, c->fd))
		close(c->fd);
	lines_end(&c->lines);
	free(c);
}

static void receive(struct connection *c)
{
	struct lines *l = &c->lines;

	c->op.done = received;
	if (cosy_async_recv(loop, &c->op, c->fd, l->buffer + l->have, l->room - l->have, 0))
		end(c);
}

/* What was complete is answered. */
static void proceed(struct connection *c)
{
	if (c->goes_on && lines_next(&c->lines))
		receive(c);
	else
		end(c);
}

static void received(struct cosy_async *op)
{
	struct connection *c = op->data;
	struct lines *l = &c->lines;

	/* 0: the client has ended its data. */
	if (op->result <= 0) {
		end(c);
		return;
	}
	c->goes_on = lines_received(l, (size_t)op->result);
	if (!l->size) {
		proceed(c);
		return;
	}
	/* The operation transfers everything. MSG_NOSIGNAL: no SIGPIPE. */
	op->done = sent;
	if (cosy_async_send(loop, op, c->fd, l->buffer, l->size, MSG_NOSIGNAL))
		end(c);
}

/* The next receive follows the send, and is not submitted beside it. */
static void sent(struct cosy_async *op)
{
	struct connection *c = op->data;

	if (op->result >= 0)
		proceed(c);
	else
		end(c);
}

static void begin(int fd)
{
	struct connection *c = calloc(1, sizeof(*c));

	served++;
	if (!c || !lines_begin(&c->lines)) {
		free(c);
		close(fd);
		return;
	}
	c->fd = fd;
	c->op.data = c;
	receive(c);
}

static void accept_next(struct cosy_async *op)
{
	const int *listener = op->data;

	op->done = accepted;
	cosy_async_accept4(loop, op, *listener, NULL, NULL, SOCK_CLOEXEC);
}

static void accepted(struct cosy_async *op)
{
	static const struct timespec pause = { .tv_nsec = 100000000 };
	const int fd = (int)op->result, error_number = -fd;

	if (op->result < 0 && lines_accepts_later(error_number)) {
		/* The connection stays in the backlog. Meanwhile others may be closed. */
		op->done = accept_next;
		cosy_async_timer(loop, op, &pause, 0);
		return;
	}
	if (error_number == ECANCELED)
		return;
	if (fd < 0 && !lines_accepts_next(error_number))
		error(1, error_number, "cannot accept");
	/* First, while it has an entry of the loop. The connection without one is closed. */
	accept_next(op);
	if (fd >= 0)
		begin(fd);
}

static void signalled(struct cosy_async *op)
{
	(void)op;
	cosy_loop_stop(loop);
}

int main(int argc, char **argv)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = lines_operations() };
	struct cosy_async signal = { .done = signalled }, accepts = { 0 };
	sigset_t signals = lines_signals();
	int listener, err;

	if (argc != 2)
		error(1, 0, "usage: operations PORT");
	listener = lines_listen(argv[1]);
	accepts.data = &listener;
	err = cosy_loop_create(&loop, &options);
	if (!err)
		err = cosy_async_signal(loop, &signal, &signals, NULL);
	if (err)
		error(1, -err, "cannot serve");
	accept_next(&accepts);
	err = cosy_loop_run(loop);
	if (err < 0)
		error(1, -err, "cannot serve");
	/* Pending operations now complete with ECANCELED, and their callbacks close all connections. */
	while (cosy_loop_destroy(loop) == -EBUSY)
		cosy_wait(loop, 1, NULL);
	printf("%lu connections\n", served);
	return 0;
}
