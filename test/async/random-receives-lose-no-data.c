/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random receives into a loop's buffers, from sockets of several kinds, beside receives with a buffer of
 * their own, other readers, cancels, and the loss of the module. All data is received once and in order,
 * no two operations have one buffer, -ENOBUFS means that all are in use, and the counts add up.
 */
// RUN: %compile
// RUN: %everywhere
#include "descriptors.h"

#define SOCKETS 12
#define SIZE 8
#define BUFFERS 4
#define LOOPS 12
#define STEPS 3000
/* Datagrams that a socket of AF_UNIX takes. */
#define QUEUED 8

struct connection {
	struct cosy_receive receive;
	struct cosy_async plain;
	int fds[2];
	bool datagrams;
	bool cancelled[2]; /* the receive, the plain one */
	unsigned char bytes[SIZE];
	unsigned char sent, got;	 /* the next byte */
	unsigned int lengths[QUEUED];	 /* of datagrams that were not received */
	unsigned int queued;		 /* their number; of a stream, the bytes */
};

static char memory[BUFFERS][SIZE];
static bool lent[BUFFERS];
static unsigned int nlent;
static unsigned int returned; /* since completions were delivered */
static struct connection connections[SOCKETS];
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void open_connection(struct connection *c, unsigned int i)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

	*c = (struct connection){ .datagrams = i % 4 == 1 || i % 4 == 2 };
	if (i % 4 == 3)
		tcp_pair(c->fds);
	else
		EQUAL(socketpair(AF_UNIX, types[i % 4], 0, c->fds), 0);
}

static void transmit(struct connection *c)
{
	unsigned int n = c->datagrams ? random_below(SIZE + 1) : 1 + random_below(2 * SIZE);
	unsigned char bytes[2 * SIZE];

	if (c->queued >= (c->datagrams ? QUEUED : 1000u))
		return;
	for (unsigned int i = 0; i < n; i++)
		bytes[i] = c->sent++;
	EQUAL(send(c->fds[1], bytes, n, 0), n);
	if (c->datagrams)
		c->lengths[c->queued++] = n;
	else
		c->queued += n;
}

/* What was received is the next of what was sent. */
static void check_data(struct connection *c, const unsigned char *bytes, unsigned int n)
{
	if (c->datagrams) {
		CHECK(c->queued);
		EQUAL(c->lengths[0], n);
		c->queued--;
		memmove(c->lengths, c->lengths + 1, c->queued * sizeof(*c->lengths));
	} else {
		CHECK(n && n <= c->queued);
		c->queued -= n;
	}
	for (unsigned int i = 0; i < n; i++)
		EQUAL(bytes[i], c->got++);
}

static bool has_result(struct connection *c, const struct cosy_async *op, bool plain)
{
	if (op->result != -ECANCELED)
		return true;
	CHECK(c->cancelled[plain]);
	return false;
}

static void receive_ends(struct cosy_async *op)
{
	struct connection *c = op->data;
	void *buffer = c->receive.buffer;
	size_t number = (size_t)((char *)buffer - memory[0]) / SIZE;

	CHECK((op->result > 0) == (buffer != NULL));
	if (!has_result(c, op, false))
		return;
	if (op->result == -ENOBUFS) {
		CHECK(nlent + returned >= BUFFERS);
		return;
	}
	CHECK(op->result >= 0);
	check_data(c, buffer, (unsigned int)op->result);
	if (!buffer)
		return;
	CHECK(buffer == memory[number] && !lent[number]);
	lent[number] = true;
	nlent++;
}

static void plain_ends(struct cosy_async *op)
{
	struct connection *c = op->data;

	if (has_result(c, op, true)) {
		CHECK(op->result >= 0);
		check_data(c, c->bytes, (unsigned int)op->result);
	}
}

static void submit(struct connection *c)
{
	if (cosy_async_pending(&c->receive.op))
		return;
	c->cancelled[0] = false;
	c->receive.op = (struct cosy_async){ .done = receive_ends, .data = c };
	EQUAL(cosy_async_receive(loop, &c->receive, c->fds[0]), 0);
}

static void submit_plain(struct connection *c)
{
	if (cosy_async_pending(&c->plain))
		return;
	c->cancelled[1] = false;
	c->plain = (struct cosy_async){ .done = plain_ends, .data = c };
	EQUAL(cosy_async_recv(loop, &c->plain, c->fds[0], c->bytes, SIZE, 0), 0);
}

static void cancel(struct connection *c)
{
	bool plain = random_below(2);

	if (!cosy_cancel(loop, plain ? &c->plain : &c->receive.op))
		c->cancelled[plain] = true;
}

static void cancel_both(struct connection *c)
{
	CHECK(cosy_cancel_fd(loop, c->fds[0]) >= 0);
	c->cancelled[0] = c->cancelled[1] = true;
}

/* Another reader. Nothing is in flight: a receive that is not pending, or was not delivered, has its data. */
static void steal(struct connection *c)
{
	unsigned char bytes[SIZE];
	ssize_t n;

	if (cosy_async_pending(&c->receive.op) || cosy_async_pending(&c->plain))
		return;
	n = recv(c->fds[0], bytes, SIZE, MSG_DONTWAIT);
	if (n < 0)
		EQUAL(errno, EAGAIN);
	else
		check_data(c, bytes, (unsigned int)n);
}

static void give_back(void)
{
	unsigned int i = random_below(BUFFERS);

	/* Another one may belong to a receive that is complete, and was not delivered. */
	if (!lent[i])
		return;
	EQUAL(cosy_buffer_return(loop, memory[i]), 0);
	nlent--;
	returned++;
	lent[i] = false;
}

static void check_counts(void)
{
	struct cosy_loop_info info;
	unsigned int pending = 0;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	for (unsigned int i = 0; i < SOCKETS; i++)
		pending += cosy_async_pending(&connections[i].receive.op) +
			   cosy_async_pending(&connections[i].plain);
	EQUAL(info.outstanding, pending);
	CHECK(info.submitted - info.completed <= pending);
	CHECK(info.waiting <= pending);
}

static void deliver(void)
{
	CHECK(cosy_wait(loop, 0, NULL) >= 0);
	returned = 0;
}

static void step(void)
{
	struct connection *c = &connections[random_below(SOCKETS)];

	switch (random_below(16)) {
	case 0: case 1: case 2: transmit(c); break;
	case 3: case 4: case 5: case 6: submit(c); break;
	case 7: submit_plain(c); break;
	case 8: cancel(c); break;
	case 9: if (!random_below(4)) cancel_both(c); break;
	case 10: steal(c); break;
	case 11: case 12: give_back(); break;
	default: deliver(); break;
	}
	if (!random_below(64))
		check_counts();
}

/* Receive what is still there. */
static void finish(struct connection *c)
{
	while (c->queued || cosy_async_pending(&c->receive.op) || cosy_async_pending(&c->plain)) {
		give_back();
		if (c->queued)
			submit(c);
		else
			cancel_both(c);
		deliver();
	}
	EQUAL(c->sent, c->got);
	EQUAL(recv(c->fds[0], c->bytes, SIZE, MSG_DONTWAIT), -1);
}

static void run(unsigned int round)
{
	loop = make_loop();
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, BUFFERS), 0);
	for (unsigned int i = 0; i < SOCKETS; i++)
		open_connection(&connections[i], i);
	for (unsigned int i = 0; i < STEPS; i++) {
		step();
		if (round % 3 == 2 && i == STEPS / 8 * (1 + round / 3))
			lose_module(100);
	}
	for (unsigned int i = 0; i < SOCKETS; i++)
		finish(&connections[i]);
	check_counts();
	while (nlent)
		give_back();
	for (unsigned int i = 0; i < SOCKETS; i++) {
		end(connections[i].fds[0]);
		end(connections[i].fds[1]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	for (unsigned int round = 0; round < LOOPS; round++)
		run(round);
	return 0;
}
