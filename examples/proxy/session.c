// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * session.c - a client and its connection to the server.
 *
 * At most three operations are outstanding: one for each direction, which receives or
 * sends, and the timer. The first one that fails cancels the others. The last one that
 * completes closes both descriptors.
 */
#include "session.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct session;

struct direction {
	struct cosy_async op;
	struct session *session;
	int from, to;
	int64_t size;		/* bytes that are sent */
	bool ended;		/* all data was sent, and sending was shut down */
	char buffer[SESSION_BUFFER];
};

struct session {
	struct sessions *all;
	int client, server;
	bool ending;
	struct direction forth, back;
	struct cosy_async timer;
	struct timespec until;	/* unless data is transferred before */
};

static bool receive(struct direction *d);
static void sent(struct cosy_async *op);

static void close_fd(struct cosy_loop *loop, int fd)
{
	/*
	 * Only a loop that is being destroyed rejects it. Then nothing waits for the
	 * descriptor.
	 */
	if (fd >= 0 && cosy_async_close(loop, NULL, fd))
		close(fd);
}

/* Frees a session that ends, after its last operation has completed. */
static void release(struct session *s)
{
	if (cosy_async_pending(&s->forth.op) || cosy_async_pending(&s->back.op) ||
	    cosy_async_pending(&s->timer))
		return;
	close_fd(s->all->loop, s->client);
	close_fd(s->all->loop, s->server);
	free(s);
}

/* Cancels outstanding operations. cosy_cancel() rejects the others. */
static void end(struct session *s)
{
	s->ending = true;
	cosy_cancel(s->all->loop, &s->forth.op);
	cosy_cancel(s->all->loop, &s->back.op);
	cosy_cancel(s->all->loop, &s->timer);
	release(s);
}

/* Ends a session with an error. A reset tells both sides that data is missing. */
static void break_off(struct session *s)
{
	const struct linger now = { .l_onoff = 1 };

	setsockopt(s->client, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	setsockopt(s->server, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	end(s);
}

static void something_passed(struct session *s)
{
	const struct timespec *idle = &s->all->idle;

	clock_gettime(CLOCK_MONOTONIC, &s->until);
	s->until.tv_sec += idle->tv_sec;
	s->until.tv_nsec += idle->tv_nsec;
	if (s->until.tv_nsec >= 1000000000) {
		s->until.tv_sec++;
		s->until.tv_nsec -= 1000000000;
	}
}

static void start_timer(struct session *s)
{
	if (cosy_async_timer(s->all->loop, &s->timer, &s->until, TIMER_ABSTIME))
		break_off(s);
}

/* If data was transferred since the timer was started, starts the timer again. */
static void timer_ended(struct cosy_async *op)
{
	struct session *s = op->data;
	struct timespec now;

	if (s->ending) {
		release(s);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (op->result == 0 && (now.tv_sec < s->until.tv_sec ||
				(now.tv_sec == s->until.tv_sec &&
				 now.tv_nsec < s->until.tv_nsec)))
		start_timer(s);
	else
		break_off(s);
}

/* Return: true if the operation of @d has ended the session, or belongs to one that ends. */
static bool is_over(struct direction *d)
{
	if (d->session->ending)
		release(d->session);
	else if (d->op.result < 0)
		break_off(d->session);
	else
		return false;
	return true;
}

static void received(struct cosy_async *op)
{
	struct direction *d = op->data;
	struct session *s = d->session;

	if (is_over(d))
		return;
	if (op->result == 0) {
		/* This side has sent all its data. The other side may still send. */
		shutdown(d->to, SHUT_WR);
		d->ended = true;
		if (s->forth.ended && s->back.ended)
			end(s);
	} else {
		d->size = op->result;
		op->done = sent;
		if (cosy_async_send(s->all->loop, op, d->to, d->buffer, (size_t)d->size,
				    MSG_NOSIGNAL))
			break_off(s);
	}
}

static void sent(struct cosy_async *op)
{
	struct direction *d = op->data;
	struct session *s = d->session;

	if (is_over(d))
		return;
	s->all->bytes += op->result;
	/* A part is what was sent before a failure. */
	if (op->result != d->size) {
		break_off(s);
		return;
	}
	something_passed(s);
	receive(d);
}

/* Return: false if the session may have been freed. */
static bool receive(struct direction *d)
{
	d->op.done = received;
	if (cosy_async_recv(d->session->all->loop, &d->op, d->from, d->buffer,
			    SESSION_BUFFER, 0)) {
		break_off(d->session);
		return false;
	}
	return true;
}

static void connected(struct cosy_async *op)
{
	struct direction *d = op->data;
	struct session *s = d->session;

	if (!s->ending && op->result < 0 && op->result != -ECANCELED)
		error(0, (int)-op->result, "cannot connect to %s", s->all->upstream.text);
	if (!is_over(d) && receive(&s->forth))
		receive(&s->back);
}

static void init_direction(struct direction *d, struct session *s, int from, int to)
{
	d->op = (struct cosy_async){ .done = connected, .data = d };
	d->session = s;
	d->from = from;
	d->to = to;
	d->ended = false;
}

void session_start(struct sessions *sessions, int client)
{
	const struct address *upstream = &sessions->upstream;
	struct session *s = malloc(sizeof(*s));

	sessions->count++;
	if (!s) {
		error(0, errno, "cannot serve a client");
		close(client);
		return;
	}
	s->all = sessions;
	s->client = client;
	s->server = socket(upstream->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->ending = false;
	s->timer = (struct cosy_async){ .done = timer_ended, .data = s };
	init_direction(&s->forth, s, client, s->server);
	init_direction(&s->back, s, s->server, client);
	if (s->server < 0) {
		error(0, errno, "cannot connect to %s", upstream->text);
		break_off(s);
		return;
	}
	if (cosy_async_connect(sessions->loop, &s->forth.op, s->server,
			       &upstream->socket, upstream->size)) {
		break_off(s);
		return;
	}
	something_passed(s);
	start_timer(s);
}
