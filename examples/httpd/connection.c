// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * connection.c - the states of a connection: receive, answer, send, and again.
 *
 * A connection has one operation at a time. Its callback submits the next one, or ends the
 * connection. To time out is to cancel that operation.
 */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "config.h"
#include "deadline.h"
#include "log.h"
#include "rate.h"
#include "reply.h"
#include "worker.h"

#define FIRST 256	     /* Bytes of a request that need no memory besides the connection. */
#define CHUNK (256 * 1024L)  /* Bytes of a file between two turns of other connections. */

/*
 * struct connection - a connection
 * @op:	      its operation
 * @deadline: what it waits for
 * @fd:	      the socket
 * @served:   requests that were answered
 * @in:	      the request that is received, of @room bytes: @first, or allocated
 * @have:     bytes in it
 * @reply:    the answer that is sent, or NULL
 * @poll:     for waiting until the socket takes more
 * @key:      for limiting its rate
 * @client:   its address
 */
struct connection {
	struct cosy_async op;
	struct deadline deadline;
	int fd;
	unsigned int served;
	char *in;
	uint32_t have, room;
	struct reply *reply;
	struct pollfd poll;
	uint64_t key;
	struct request request;
	char client[INET6_ADDRSTRLEN];
	char first[FIRST];
};

static void received(struct cosy_async *op);
static void sent(struct cosy_async *op);
static void writable(struct cosy_async *op);
static void lingered(struct cosy_async *op);

static void drop_reply(struct connection *c)
{
	log_request(c->client, &c->request, c->in, c->reply->status, c->reply->body);
	reply_release(c->reply);
	c->reply = NULL;
}

static void end(struct connection *c)
{
	if (c->reply)
		drop_reply(c);
	deadline_clear(&c->deadline);
	/* It fails if very many connections end at once, or if the loop is being destroyed. */
	if (cosy_async_close(worker.loop, NULL, c->fd)) {
		cosy_cancel_fd(worker.loop, c->fd);
		close(c->fd);
	}
	if (c->in != c->first)
		free(c->in);
	free(c);
	worker_disconnected();
}

static void receive(struct connection *c, enum deadline_kind kind)
{
	/* The time for a header begins with its first byte. */
	if (kind != DEADLINE_HEADER || c->deadline.kind != DEADLINE_HEADER || !c->deadline.next)
		deadline_set(&c->deadline, kind, worker.now);
	c->op.done = received;
	if (cosy_async_recv(worker.loop, &c->op, c->fd, c->in + c->have, c->room - c->have, 0))
		end(c);
}

static void send_reply(struct connection *c)
{
	struct reply *reply = c->reply;
	/* What follows by sendfile() shares a segment with the end of this. */
	const int more = reply->file >= 0 && reply->at < reply->end ? MSG_MORE : 0;

	deadline_set(&c->deadline, DEADLINE_SEND, worker.now);
	c->op.done = sent;
	if (cosy_async_send(worker.loop, &c->op, c->fd, reply->buffer + reply->start, reply->size,
			    MSG_NOSIGNAL | more))
		end(c);
}

/* Answer with a status, and end the connection: what follows may not be a request. */
static void refuse(struct connection *c, int status)
{
	c->reply = reply_new();
	if (!c->reply) {
		end(c);
		return;
	}
	c->reply->keep = false;
	reply_status(c->reply, &c->request, status);
	send_reply(c);
}

static void answer(struct connection *c)
{
	c->reply = reply_new();
	if (!c->reply) {
		end(c);
		return;
	}
	c->served++;
	c->reply->keep = !worker.draining && c->served < config.requests &&
			 http_should_keep_alive(&c->request.parser);
	if (config.rate && !rate_allows(c->key, config.rate, worker.now))
		reply_status(c->reply, &c->request, 429);
	else
		reply_answer(c->reply, &c->request, c->in);
	send_reply(c);
}

/* Make room for a header that is longer than usual. Return false if it is too long, or without memory. */
static bool grow(struct connection *c)
{
	char *in;

	if (c->in != c->first || config.header_size <= FIRST)
		return false;
	in = malloc(config.header_size);
	if (!in)
		return false;
	c->in = memcpy(in, c->first, c->have);
	c->room = config.header_size;
	return true;
}

/* Continue with what was received. */
static void parse(struct connection *c)
{
	int status = request_parse(&c->request, c->in, c->have);

	if (status)
		refuse(c, status);
	else if (c->request.complete)
		answer(c);
	else if (c->have == c->room && !grow(c))
		refuse(c, 431);
	else
		receive(c, DEADLINE_HEADER);
}

static void received(struct cosy_async *op)
{
	struct connection *c = op->data;
	int64_t n = op->result;

	if (n == -ECANCELED && c->have) {
		refuse(c, 408);
		return;
	}
	/* A request may have arrived at the moment at which the connection timed out. */
	if (n == -ECANCELED)
		n = recv(c->fd, c->in, c->room, MSG_DONTWAIT);
	if (n <= 0) {
		end(c);
		return;
	}
	c->have += (uint32_t)n;
	parse(c);
}

/* Wait for the next request. What was received after this one begins it. */
static void next_request(struct connection *c)
{
	const char *rest = c->in + c->request.parsed;

	c->have -= c->request.parsed;
	if (c->in != c->first && c->have <= FIRST) {
		memcpy(c->first, rest, c->have);
		free(c->in);
		c->in = c->first;
		c->room = sizeof(c->first);
	} else {
		memmove(c->in, rest, c->have);
	}
	request_begin(&c->request);
	if (c->have)
		parse(c);
	else
		receive(c, DEADLINE_IDLE);
}

/*
 * Close a connection whose client may still be sending. If it were closed at once, the client would
 * get a reset, perhaps before it has read the answer.
 */
static void linger(struct connection *c)
{
	deadline_set(&c->deadline, DEADLINE_LINGER, worker.now);
	shutdown(c->fd, SHUT_WR);
	c->op.done = lingered;
	if (cosy_async_recv(worker.loop, &c->op, c->fd, c->in, c->room, 0))
		end(c);
}

static void lingered(struct cosy_async *op)
{
	struct connection *c = op->data;

	if (op->result <= 0 ||
	    cosy_async_recv(worker.loop, &c->op, c->fd, c->in, c->room, 0))
		end(c);
}

static void complete(struct connection *c)
{
	const bool keep = c->reply->keep, whole = c->request.complete;

	drop_reply(c);
	/* What has been received is answered, although the worker is to end. */
	if (keep && (!worker.draining || c->have > c->request.parsed))
		next_request(c);
	else if (whole)
		end(c);
	else
		linger(c);
}

/* Send a part of the file. The call does not wait for the client. */
static void transfer(struct connection *c)
{
	struct reply *reply = c->reply;
	const off_t rest = reply->end - reply->at;
	ssize_t n = sendfile(c->fd, reply->file, &reply->at, rest < CHUNK ? (size_t)rest : CHUNK);

	/* If the file has become shorter, only the end of the connection can tell. */
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		end(c);
		return;
	}
	reply->body += n > 0 ? n : 0;
	if (reply->at == reply->end) {
		complete(c);
		return;
	}
	if (n > 0)
		deadline_set(&c->deadline, DEADLINE_SEND, worker.now);
	c->op.done = writable;
	c->poll = (struct pollfd){ .fd = c->fd, .events = POLLOUT };
	if (cosy_async_poll(worker.loop, &c->op, &c->poll, 1, -1))
		end(c);
}

static void writable(struct cosy_async *op)
{
	if (op->result > 0)
		transfer(op->data);
	else
		end(op->data);
}

static void sent(struct cosy_async *op)
{
	struct connection *c = op->data;
	struct reply *reply = c->reply;

	if (op->result > (int64_t)reply->header)
		reply->body = op->result - reply->header;
	/* A part is what was sent before a failure. */
	if (op->result != (int64_t)reply->size)
		end(c);
	else if (reply->file >= 0 && reply->at < reply->end)
		transfer(c);
	else
		complete(c);
}

static void name_client(struct connection *c, const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;

	if (address->ss_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, c->client, sizeof(c->client));
	else if (address->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &six->sin6_addr, c->client, sizeof(c->client));
	else
		strcpy(c->client, "unix:");
}

void connection_start(int fd, const struct sockaddr_storage *address)
{
	struct connection *c = malloc(sizeof(*c));

	if (!c) {
		close(fd);
		worker_disconnected();
		return;
	}
	c->op = (struct cosy_async){ .data = c };
	c->deadline.next = NULL;
	c->fd = fd;
	c->served = 0;
	c->in = c->first;
	c->have = 0;
	c->room = sizeof(c->first);
	c->reply = NULL;
	c->key = rate_key(address);
	name_client(c, address);
	request_begin(&c->request);
	receive(c, DEADLINE_NEW);
}

static void expired(struct deadline *deadline)
{
	struct connection *c = (struct connection *)((char *)deadline -
						     offsetof(struct connection, deadline));

	/* If the operation is just complete, its callback continues, with a new deadline. */
	cosy_cancel(worker.loop, &c->op);
}

void connections_expire(void)
{
	const uint32_t now = worker.now;

	deadline_expire(DEADLINE_NEW, now - config.header_timeout, expired);
	deadline_expire(DEADLINE_HEADER, now - config.header_timeout, expired);
	deadline_expire(DEADLINE_IDLE, now - config.idle_timeout, expired);
	deadline_expire(DEADLINE_SEND, now - config.send_timeout, expired);
	deadline_expire(DEADLINE_LINGER, now - 2, expired);
}

void connections_drain(void)
{
	deadline_expire(DEADLINE_IDLE, worker.now, expired);
}
