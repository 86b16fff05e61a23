// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-io.c - the connections of memcached's workers, by operations.
 */
#include "memcached.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLAT 2048 /* Bytes of an answer that is copied, so that one buffer is sent. */

static __thread struct cosy_loop *loop;
static __thread conn *added;	    /* connections without an operation yet */
static __thread char *unused;	    /* buffers of FLAT bytes; the first word links them */
static __thread bool stopping;

static void done(struct cosy_async *op);

static void take_buffer(struct io *io)
{
	io->out = unused ? unused : malloc(FLAT);
	if (unused)
		unused = *(char **)unused;
}

static void give_buffer(struct io *io)
{
	*(char **)io->out = unused;
	unused = io->out;
	io->out = NULL;
}

static void submitted(conn *c, enum io_kind kind, int err)
{
	if (err) {
		fprintf(stderr, "no operation for connection %d: %s\n", c->sfd, strerror(-err));
		abort();
	}
	c->io.kind = kind;
}

static void wait_until_ready(conn *c)
{
	static const struct pollfd in = { .events = POLLIN }, out = { .events = POLLOUT };

	c->io.op.done = done;
	c->io.op.data = c;
	c->io.poll = c->ev_flags & EV_WRITE ? out : in;
	c->io.poll.fd = c->sfd;
	submitted(c, IO_READY, cosy_async_poll(loop, &c->io.op, &c->io.poll, 1, -1));
}

/* Wait for each connection that was added, and whose machine has not submitted anything. */
static void start_added(void)
{
	conn *c;

	while ((c = added)) {
		added = c->io.next;
		c->io.listed = false;
		if (c->io.added && !c->io.kind)
			wait_until_ready(c);
	}
}

static void done(struct cosy_async *op)
{
	conn *c = op->data;
	struct io *io = &c->io;
	const bool writes = io->kind == IO_SEND || (io->kind == IO_READY && c->ev_flags & EV_WRITE);

	if (io->kind == IO_SEND)
		give_buffer(io);
	io->done = io->kind == IO_READY ? IO_NONE : io->kind;
	io->result = op->result;
	io->kind = IO_NONE;
	if (stopping || !io->added)
		return;
	event_handler(c->sfd, writes ? EV_WRITE : EV_READ, c);
	/* As a persistent event of libevent. */
	if (io->added && !io->kind)
		wait_until_ready(c);
	if (added)
		start_added();
}

int io_add(conn *c)
{
	if (!loop)
		return event_add(&c->event, 0);
	c->io.added = true;
	c->io.done = IO_NONE;
	if (!c->io.listed) {
		c->io.listed = true;
		c->io.next = added;
		added = c;
	}
	return 0;
}

void io_del(conn *c)
{
	if (!loop) {
		event_del(&c->event);
		return;
	}
	c->io.added = false;
}

bool io_update(conn *c, int flags)
{
	if (!loop)
		return false;
	c->ev_flags = flags;
	return true;
}

bool io_cancel(conn *c)
{
	if (!loop || !c->io.kind)
		return false;
	/* If it is just complete, the connection is not idle: it continues. */
	cosy_cancel(loop, &c->io.op);
	return true;
}

void io_close(int fd)
{
	if (loop)
		cosy_cancel_fd(loop, fd);
	close(fd);
}

bool io_wait(conn *c)
{
	int room;

	if (!loop || IS_UDP(c->transport) || !rbuf_alloc(c))
		return false;
	c->ev_flags = EV_READ | EV_PERSIST;
	/* The answer was sent with a receive after it, which may be complete. */
	if (c->io.kind == IO_RECEIVE || io_received(c))
		return true;
	/* The machine will ask for the same bytes: it moves what is left to the beginning, too. */
	if (c->rcurr != c->rbuf) {
		memmove(c->rbuf, c->rcurr, c->rbytes);
		c->rcurr = c->rbuf;
	}
	room = c->rsize - c->rbytes;
	if (room <= 0)
		return false;
	c->io.op.done = done;
	c->io.op.data = c;
	submitted(c, IO_RECEIVE, cosy_async_recv(loop, &c->io.op, c->sfd, c->rbuf + c->rbytes,
						 (size_t)room, 0));
	return true;
}

/* Take the result of an operation. */
static ssize_t result(conn *c)
{
	c->io.done = IO_NONE;
	if (c->io.result >= 0)
		return c->io.result;
	errno = (int)-c->io.result;
	return -1;
}

bool io_received(const conn *c)
{
	return c->io.done == IO_RECEIVE;
}

ssize_t io_read(conn *c, void *buffer, size_t size)
{
	if (io_received(c))
		return result(c);
	return recv(c->sfd, buffer, size, MSG_DONTWAIT);
}

bool io_sent(const conn *c)
{
	return c->io.done == IO_SEND;
}

static void flatten(char *to, const struct msghdr *message)
{
	for (size_t i = 0; i < message->msg_iovlen; i++)
		to = mempcpy(to, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
}

/*
 * Return true if the machine will wait for a request after it has sent this. Then nothing is in the
 * read buffer, so that it has room for the answer, and after that for the request.
 */
static bool next_is_request(const conn *c)
{
	return c->state == conn_mwrite && !c->rbytes && !c->rbuf_malloced && !c->close_after_write &&
	       c->rbuf && c->rsize >= FLAT;
}

ssize_t io_sendmsg(conn *c, struct msghdr *message, int flags)
{
	struct io *io = &c->io;
	const uintptr_t read_buffer = (uintptr_t)c->rbuf, read_size = (uintptr_t)c->rsize;
	bool in_read_buffer = false;
	size_t size = 0;

	if (io_sent(c))
		return result(c);
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *part = &message->msg_iov[i];

		size += part->iov_len;
		in_read_buffer |= (uintptr_t)part->iov_base - read_buffer < read_size;
	}
	if (!loop || size > FLAT)
		return sendmsg(c->sfd, message, flags);
	io->op.done = done;
	io->op.data = c;
	if (!in_read_buffer && next_is_request(c)) {
		/* If the answer cannot be sent, the receive fails, and the machine closes the connection. */
		flatten(c->rbuf, message);
		c->rcurr = c->rbuf;
		submitted(c, IO_RECEIVE, cosy_async_reply(loop, &io->op, c->sfd, c->rbuf, size, flags,
							  c->rbuf, (size_t)c->rsize));
		return (ssize_t)size;
	}
	take_buffer(io);
	if (!io->out)
		return sendmsg(c->sfd, message, flags);
	flatten(io->out, message);
	submitted(c, IO_SEND, cosy_async_send(loop, &io->op, c->sfd, io->out, size, flags));
	errno = EAGAIN;
	return -1;
}

/* What a worker is told by other threads. */
struct notification {
	struct cosy_async op;
	struct pollfd poll;
	void (*notified)(int fd, short which, void *arg);
	void *arg;
};

static void notified(struct cosy_async *op)
{
	struct notification *n = op->data;

	if (op->result <= 0)
		return;
	n->notified(n->poll.fd, EV_READ, n->arg);
	start_added();
	cosy_async_poll(loop, op, &n->poll, 1, -1);
}

void io_run(int fd, void (*callback)(int fd, short which, void *arg), void *arg)
{
	struct notification n = {
		.op = { .done = notified, .data = &n },
		.poll = { .fd = fd, .events = POLLIN },
		.notified = callback,
		.arg = arg,
	};
	struct cosy_loop_options options = {
		.size = sizeof(options),
		.entries = 2 * (unsigned int)settings.maxconns + 64, /* a reply is two */
	};
	int err = cosy_loop_create(&loop, &options);

	if (!err)
		err = cosy_async_poll(loop, &n.op, &n.poll, 1, -1);
	if (err) {
		fprintf(stderr, "cannot make a loop of Cosy: %s\n", strerror(-err));
		exit(1);
	}
	cosy_loop_run(loop);
	stopping = true;
	while (cosy_loop_destroy(loop) == -EBUSY)
		cosy_wait(loop, 1, NULL);
	loop = NULL;
}

void io_stop(void)
{
	cosy_loop_stop(loop);
}
