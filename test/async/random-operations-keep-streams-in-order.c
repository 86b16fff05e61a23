/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random reads, writes, polls, timers, cancels and closes on streams of several kinds. Each
 * operation completes once. The data of a stream's readers, in the order of submission, is the
 * data of its writers, in their order. A cancelled operation has transferred the bytes in its
 * result.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "loop.h"

#define STREAMS 6
#define OPS 400
#define STEPS 6000
/* Writers usually find a full pipe, and readers sometimes an empty one. */
#define MAX_WRITE 60000
#define MAX_READ 6000

enum kind { READER, WRITER, POLLER, TIMER };

struct op {
	struct cosy_async async;
	struct op *next; /* of the same stream and kind */
	enum kind kind;
	struct pollfd poll;
	unsigned int completions;
	unsigned int size;
	unsigned char bytes[MAX_WRITE];
};

struct stream {
	int in, out;
	struct op *first[2], **last[2];
	unsigned char written, read; /* the next expected byte */
	bool closing;
};

static const struct timespec moment = { .tv_nsec = 100000 };
static struct cosy_loop *loop;
static struct stream streams[STREAMS];
static struct op *ops[OPS];
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void open_stream(struct stream *s)
{
	int fds[2];

	switch (random_below(4)) {
	case 0:
		/* Threads make the calls that block. */
		open_fifo(fds);
		EQUAL(fcntl(fds[random_below(2)], F_SETFL, random_below(2) ? O_NONBLOCK : 0), 0);
		break;
	case 1:
		EQUAL(pipe2(fds, random_below(2) ? O_NONBLOCK : 0), 0);
		break;
	default:
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	}
	*s = (struct stream){ .in = fds[0], .out = fds[1] };
	s->last[READER] = &s->first[READER];
	s->last[WRITER] = &s->first[WRITER];
}

static void completed(struct cosy_async *async)
{
	struct op *op = async->data;

	op->completions++;
}

/* Operations of a stream in the order of their submission, as far as they are complete. */
static void check(struct stream *s, enum kind kind)
{
	struct op *op;

	while ((op = s->first[kind]) && op->completions) {
		int64_t n = op->async.result;

		EQUAL(op->completions, 1);
		/* A write that a thread had begun ends when the other end is closed. */
		if (n < 0 && !(kind == WRITER && n == -EPIPE && s->closing))
			EQUAL(n, -ECANCELED);
		CHECK(n <= op->size);
		if (kind == WRITER && n > 0)
			s->written += (unsigned char)n;
		for (int64_t i = 0; kind == READER && i < n; i++)
			EQUAL(op->bytes[i], s->read++);
		s->first[kind] = op->next;
		if (!op->next)
			s->last[kind] = &s->first[kind];
		op->completions = 0;
		op->size = 0;
	}
}

static void check_all(void)
{
	for (int i = 0; i < STREAMS; i++) {
		check(&streams[i], WRITER);
		check(&streams[i], READER);
	}
	for (int i = 0; i < OPS; i++) {
		CHECK(ops[i]->completions <= 1);
		if (ops[i]->kind >= POLLER && ops[i]->completions)
			ops[i]->completions = ops[i]->size = 0;
	}
}

/* The bytes of a writer continue those of earlier writers. */
static void submit(struct stream *s, struct op *op)
{
	op->kind = (enum kind)random_below(4);
	op->size = 1 + random_below(op->kind == WRITER ? MAX_WRITE : MAX_READ);
	op->next = NULL;
	op->async.done = completed;
	op->async.data = op;
	switch (op->kind) {
	case WRITER:
		/* The value to write is known only if no write is outstanding. */
		if (s->first[WRITER]) {
			op->size = 0;
			return;
		}
		for (unsigned int i = 0; i < op->size; i++)
			op->bytes[i] = (unsigned char)(s->written + i);
		EQUAL(cosy_async_write(loop, &op->async, s->out, op->bytes,
				       op->size), 0);
		break;
	case READER:
		EQUAL(cosy_async_read(loop, &op->async, s->in, op->bytes,
				      op->size), 0);
		break;
	case POLLER:
		op->poll = (struct pollfd){ .fd = s->in, .events = POLLIN };
		EQUAL(cosy_async_poll(loop, &op->async, &op->poll, 1, -1), 0);
		return;
	case TIMER:
		EQUAL(cosy_async_timer(loop, &op->async, &moment, 0), 0);
		return;
	}
	*s->last[op->kind] = op;
	s->last[op->kind] = &op->next;
}

static void close_stream(struct stream *s)
{
	s->closing = true;
	EQUAL(cosy_async_close(loop, NULL, s->in), 0);
	EQUAL(cosy_async_close(loop, NULL, s->out), 0);
	for (;;) {
		check(s, WRITER);
		check(s, READER);
		if (!s->first[READER] && !s->first[WRITER])
			break;
		CHECK(cosy_wait(loop, 1, NULL) >= 0);
	}
	/* The calls must be made before the number is used again. */
	EQUAL(cosy_wait(loop, 0, NULL) >= 0, 1);
	open_stream(s);
}

static void step(void)
{
	struct stream *s = &streams[random_below(STREAMS)];
	struct op *op = ops[random_below(OPS)];
	int err;

	switch (random_below(12)) {
	case 0:
		if (op->size) {
			err = cosy_cancel(loop, &op->async);
			CHECK(err == 0 || err == -ENOENT || err == -EALREADY);
		}
		break;
	case 1:
		if (!random_below(10))
			close_stream(s);
		break;
	case 2:
	case 3:
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
		check_all();
		break;
	default:
		if (!op->size)
			submit(s, op);
	}
}

int main(void)
{
	struct cosy_loop_info info;

	signal(SIGPIPE, SIG_IGN);
	loop = make_loop();
	for (int i = 0; i < OPS; i++)
		CHECK(ops[i] = calloc(1, sizeof(**ops)));
	for (uint32_t start = 1; start <= 10; start++) {
		seed = start * 7919;
		for (int i = 0; i < STREAMS; i++)
			open_stream(&streams[i]);
		for (int i = 0; i < STEPS; i++)
			step();
		for (int i = 0; i < STREAMS; i++)
			close_stream(&streams[i]);
		EQUAL(cosy_loop_run(loop), 0);
		check_all();
		for (int i = 0; i < STREAMS; i++) {
			EQUAL(cosy_cancel_fd(loop, streams[i].in), 0);
			EQUAL(cosy_cancel_fd(loop, streams[i].out), 0);
			close(streams[i].in);
			close(streams[i].out);
		}
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
		EQUAL(info.outstanding, 0);
		EQUAL(info.waiting, 0);
		EQUAL(info.submitted, info.completed);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	for (int i = 0; i < OPS; i++)
		free(ops[i]);
	return 0;
}
