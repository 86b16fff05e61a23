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
#include "header.h"
#include "incoming.h"
#include "log.h"
#include "rate.h"
#include "reply.h"
#include "worker.h"

#define CHUNK (256 * 1024L) /* Bytes of a file between two turns of other connections. */
#define BUFFERS 128	    /* Requests that are received at once. */
#define BUFFER 2048	    /* Bytes that are received at once. */

/*
 * struct connection - a connection; an idle one has no other memory
 * @receive:  its operation, also those that do not receive
 * @deadline: what it waits for
 * @fd:	      the socket
 * @served:   requests that were answered
 * @in:	      the request that is received or answered; NULL before its first byte
 * @reply:    the answer that is sent, or NULL
 * @poll:     for waiting until the socket takes more
 * @key:      for limiting its rate
 * @client:   its address
 */
struct connection {
	struct cosy_receive receive;
	struct deadline deadline;
	int fd;
	unsigned int served;
	struct incoming *in;
	struct reply *reply;
	struct pollfd poll;
	uint64_t key;
	char client[INET6_ADDRSTRLEN];
};

static char buffers[BUFFERS][BUFFER];

/* That of the callback that runs, or has run last; NULL after it has ended. */
static struct connection *current;

static void received(struct cosy_async *op);
static void sent(struct cosy_async *op);
static void writable(struct cosy_async *op);
static void lingered(struct cosy_async *op);

static struct connection *connection_of(const struct cosy_async *op)
{
	__atomic_store_n(&current, op->data, __ATOMIC_RELAXED);
	return op->data;
}

static void drop_reply(struct connection *c)
{
	log_request(c->client, &c->in->request, c->in->bytes, c->reply->status, c->reply->body);
	reply_release(c->reply);
	c->reply = NULL;
}

static void end(struct connection *c)
{
	if (c->reply)
		drop_reply(c);
	deadline_clear(&c->deadline);
	/*
	 * No operation is left. So the call itself is cheaper than cosy_async_close(), which also asks whether the
	 * close waits for the client: no connection has SO_LINGER.
	 */
	cosy_cancel_fd(worker.loop, c->fd);
	close(c->fd);
	incoming_release(c->in);
	__atomic_store_n(&current, NULL, __ATOMIC_RELAXED);
	free(c);
	worker_disconnected();
}

static void receive(struct connection *c, enum deadline_kind kind)
{
	/* The time for a header begins with its first byte. */
	if (kind != DEADLINE_HEADER || c->deadline.kind != DEADLINE_HEADER || !c->deadline.next)
		deadline_set(&c->deadline, kind, worker.now);
	c->receive.op.done = received;
	if (cosy_async_receive(worker.loop, &c->receive, c->fd))
		end(c);
}

static void send_reply(struct connection *c)
{
	struct reply *reply = c->reply;
	/* What follows by sendfile() shares a segment with the end of this. */
	const int more = reply->file >= 0 && reply->at < reply->end ? MSG_MORE : 0;

	deadline_set(&c->deadline, DEADLINE_SEND, worker.now);
	c->receive.op.done = sent;
	if (cosy_async_send(worker.loop, &c->receive.op, c->fd, reply->buffer + reply->start,
			    reply->size, MSG_NOSIGNAL | more))
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
	reply_status(c->reply, &c->in->request, status);
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
			 llhttp_should_keep_alive(&c->in->request.parser);
	if (config.rate && !rate_allows(c->key, config.rate, worker.now))
		reply_status(c->reply, &c->in->request, 429);
	else
		reply_answer(c->reply, &c->in->request, c->in->bytes);
	send_reply(c);
}

/* Continue with what was received. */
static void parse(struct connection *c)
{
	int status = incoming_parse(c->in, config.header_size);

	if (status)
		refuse(c, status);
	else if (c->in->request.complete)
		answer(c);
	else
		receive(c, DEADLINE_HEADER);
}

/* Keep what was received. Return false if there is no memory. */
static bool keep(struct connection *c, const char *bytes, size_t size)
{
	if (!c->in)
		c->in = incoming_new();
	return c->in && incoming_add(c->in, bytes, (uint32_t)size);
}

/* Continue with what is there, although the connection has timed out or is to end. */
static void cancelled(struct connection *c)
{
	char bytes[BUFFER];
	ssize_t n;

	if (c->in) {
		refuse(c, 408);
		return;
	}
	/* A request may have arrived at that moment. */
	n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n > 0 && keep(c, bytes, (size_t)n))
		parse(c);
	else
		end(c);
}

static void received(struct cosy_async *op)
{
	struct connection *c = connection_of(op);
	bool kept;

	if (op->result > 0) {
		kept = keep(c, c->receive.buffer, (size_t)op->result);
		cosy_buffer_return(worker.loop, c->receive.buffer);
		if (kept)
			parse(c);
		else
			end(c);
	} else if (op->result == -ENOBUFS) {
		/* The callbacks before this one have returned buffers. */
		receive(c, c->deadline.kind);
	} else if (op->result == -ECANCELED) {
		cancelled(c);
	} else {
		end(c);
	}
}

/* Wait for the next request. What was received after this one begins it. */
static void next_request(struct connection *c)
{
	if (incoming_next(c->in)) {
		parse(c);
		return;
	}
	incoming_release(c->in);
	c->in = NULL;
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
	c->receive.op.done = lingered;
	if (cosy_async_receive(worker.loop, &c->receive, c->fd))
		end(c);
}

static void lingered(struct cosy_async *op)
{
	struct connection *c = connection_of(op);

	if (op->result > 0)
		cosy_buffer_return(worker.loop, c->receive.buffer);
	/* It may have timed out at the moment at which something was received. */
	if ((op->result <= 0 && op->result != -ENOBUFS) || !c->deadline.next ||
	    cosy_async_receive(worker.loop, &c->receive, c->fd))
		end(c);
}

static void complete(struct connection *c)
{
	const struct request *request = &c->in->request;
	const bool kept = c->reply->keep, more = incoming_has_next(c->in);

	drop_reply(c);
	/* What has been received is answered, although the worker is to end. */
	if (kept && (!worker.draining || more))
		next_request(c);
	/* A client that has said so sends nothing more. All others may have sent requests meanwhile. */
	else if (request->complete && !more && !llhttp_should_keep_alive(&request->parser))
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
		drop_reply(c);
		linger(c);
		return;
	}
	reply->body += n > 0 ? n : 0;
	if (reply->at == reply->end) {
		complete(c);
		return;
	}
	/* It may have timed out at the moment at which the socket became writable. */
	if (n > 0 || !c->deadline.next)
		deadline_set(&c->deadline, DEADLINE_SEND, worker.now);
	c->receive.op.done = writable;
	c->poll = (struct pollfd){ .fd = c->fd, .events = POLLOUT };
	if (cosy_async_poll(worker.loop, &c->receive.op, &c->poll, 1, -1))
		end(c);
}

static void writable(struct cosy_async *op)
{
	struct connection *c = connection_of(op);

	if (op->result > 0)
		transfer(c);
	else
		end(c);
}

static void sent(struct cosy_async *op)
{
	struct connection *c = connection_of(op);
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

/* inet_ntop() uses sprintf(), which takes as long as parsing a request. */
static void name_four(char *to, const struct in_addr *address)
{
	const uint32_t bytes = ntohl(address->s_addr);

	_Static_assert(INET6_ADDRSTRLEN >= 12 + HEADER_DIGITS, "there is room for the last number");
	for (int shift = 24; shift >= 0; shift -= 8) {
		to = header_number(to, bytes >> shift & 255);
		*to++ = shift ? '.' : 0;
	}
}

static void name_client(struct connection *c, const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;

	if (address->ss_family == AF_INET)
		name_four(c->client, &four->sin_addr);
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
	c->receive = (struct cosy_receive){ .op = { .data = c } };
	c->deadline.next = NULL;
	c->fd = fd;
	c->served = 0;
	c->in = NULL;
	c->reply = NULL;
	c->key = rate_key(address);
	name_client(c, address);
	receive(c, DEADLINE_NEW);
}

static void expired(struct deadline *deadline)
{
	struct connection *c = (struct connection *)((char *)deadline -
						     offsetof(struct connection, deadline));

	/* If the operation is just complete, its callback continues, with a new deadline. */
	cosy_cancel(worker.loop, &c->receive.op);
}

int connections_init(void)
{
	return cosy_loop_buffers(worker.loop, buffers, BUFFER, BUFFERS);
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

void connections_report(void)
{
	const struct connection *c = __atomic_load_n(&current, __ATOMIC_RELAXED);

	/* Before there is an answer, and after that, the request may just be changing. */
	if (c)
		log_stuck(c->client, c->reply ? c->in : NULL);
}

void connections_drain(void)
{
	deadline_expire(DEADLINE_IDLE, worker.now, expired);
}
