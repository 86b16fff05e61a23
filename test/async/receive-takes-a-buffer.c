/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A receive of cosy_async_receive() has no buffer while it waits. It takes one when there is something to
 * receive, and the program returns it. No two operations have one buffer at a time. Without a free buffer
 * the receive completes with -ENOBUFS, and nothing is lost.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <sys/wait.h>

#include "descriptors.h"
#include "filter.h"

#define SIZE 64
#define COUNT 8
#define CONNECTIONS 70
#define ROUNDS 200

static char memory[COUNT][SIZE];

static struct cosy_loop *make_loop_with_buffers(void)
{
	struct cosy_loop *made = make_loop();

	EQUAL(cosy_loop_buffers(made, memory, SIZE, COUNT), 0);
	return made;
}

static void stream_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void end_pair(int fds[2])
{
	end(fds[0]);
	end(fds[1]);
}

static void receive(struct cosy_receive *r, int fd)
{
	EQUAL(cosy_async_receive(loop, r, fd), 0);
	CHECK(!r->buffer);
}

/* The receive has @text in a buffer, which is returned. */
static void received(struct cosy_receive *r, const char *text)
{
	size_t length = strlen(text), offset;

	completes(&r->op, (int64_t)length);
	offset = (size_t)((char *)r->buffer - memory[0]);
	CHECK(offset < sizeof(memory) && offset % SIZE == 0);
	EQUAL(memcmp(r->buffer, text, length), 0);
	EQUAL(cosy_buffer_return(loop, r->buffer), 0);
}

static void transmit(int fd, const char *text)
{
	EQUAL(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* What is received has arrived before, or arrives later. */
static void requests(int fds[2])
{
	struct cosy_receive r = { 0 };

	for (unsigned int i = 0; i < 20; i++) {
		if (i % 2)
			transmit(fds[1], "early");
		receive(&r, fds[0]);
		if (!(i % 2)) {
			execute(loop);
			CHECK(cosy_async_pending(&r.op));
			transmit(fds[1], "later");
		}
		received(&r, i % 2 ? "early" : "later");
	}
	/* The end of the stream takes no buffer. */
	receive(&r, fds[0]);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	completes(&r.op, 0);
	CHECK(!r.buffer);
	end_pair(fds);
}

static void errors(void)
{
	struct cosy_loop *all = loop;
	struct cosy_receive r = { 0 };
	int fds[2], pipes[2];

	EQUAL(cosy_async_receive(loop, NULL, 0), -EINVAL);
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, COUNT), -EBUSY);
	EQUAL(cosy_buffer_return(loop, memory[0]), -EINVAL);
	EQUAL(cosy_buffer_return(loop, memory[0] + 1), -EINVAL);
	EQUAL(cosy_buffer_return(loop, (void *)((uintptr_t)memory - SIZE)), -EINVAL);
	EQUAL(cosy_buffer_return(loop, (void *)((uintptr_t)memory + sizeof(memory))), -EINVAL);
	EQUAL(cosy_buffer_return(loop, NULL), -EINVAL);
	receive(&r, -1);
	EQUAL(cosy_async_receive(loop, &r, -1), -EBUSY);
	completes(&r.op, -EBADF);
	EQUAL(pipe(pipes), 0);
	EQUAL(write(pipes[1], "pipe", 4), 4);
	receive(&r, pipes[0]);
	completes(&r.op, -ENOTSOCK);
	end_pair(pipes);
	/* The other end is gone, and with it what this end has sent. */
	stream_pair(fds);
	transmit(fds[0], "unread");
	EQUAL(close(fds[1]), 0);
	receive(&r, fds[0]);
	completes(&r.op, -ECONNRESET);
	receive(&r, fds[0]);
	completes(&r.op, 0);
	end(fds[0]);

	loop = make_loop();
	EQUAL(cosy_async_receive(loop, &r, 0), -EINVAL);
	EQUAL(cosy_buffer_return(loop, memory[0]), -EPERM);
	EQUAL(cosy_loop_buffers(loop, NULL, SIZE, COUNT), -EINVAL);
	EQUAL(cosy_loop_buffers(loop, memory, 0, COUNT), -EINVAL);
	EQUAL(cosy_loop_buffers(loop, memory, (size_t)INT32_MAX + 1, 1), -EINVAL);
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, 0), -EINVAL);
	EQUAL(cosy_loop_buffers(loop, memory, 1, 4097), -EINVAL);
	/* No address of a process. What was to be received stays. */
	EQUAL(cosy_loop_buffers(loop, (void *)8, 4096, 2), 0);
	stream_pair(fds);
	transmit(fds[1], "kept");
	for (int i = 0; i < 3; i++) {
		receive(&r, fds[0]);
		completes(&r.op, -EFAULT);
	}
	EQUAL(recv(fds[0], memory[0], SIZE, 0), 4);
	end_pair(fds);
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

/* More than a buffer takes: the rest of a stream is received next, and that of a datagram is lost. */
static void sizes(void)
{
	char large[SIZE + 5];
	struct cosy_receive r = { 0 };
	int fds[2];

	memset(large, 'l', sizeof(large));
	stream_pair(fds);
	EQUAL(send(fds[1], large, sizeof(large), 0), SIZE + 5);
	receive(&r, fds[0]);
	completes(&r.op, SIZE);
	EQUAL(cosy_buffer_return(loop, r.buffer), 0);
	EQUAL(cosy_buffer_return(loop, r.buffer), -EINVAL);
	receive(&r, fds[0]);
	received(&r, "lllll");
	end_pair(fds);

	EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	receive(&r, fds[0]);
	execute(loop);
	EQUAL(send(fds[1], large, sizeof(large), 0), SIZE + 5);
	transmit(fds[1], "next");
	completes(&r.op, SIZE);
	EQUAL(cosy_buffer_return(loop, r.buffer), 0);
	receive(&r, fds[0]);
	received(&r, "next");
	/* An empty one. */
	receive(&r, fds[0]);
	execute(loop);
	EQUAL(send(fds[1], "", 0, 0), 0);
	completes(&r.op, 0);
	transmit(fds[1], "after it");
	receive(&r, fds[0]);
	received(&r, "after it");
	end_pair(fds);
}

/* All buffers are in use. */
static void used_up(void)
{
	struct cosy_receive r[COUNT + 2] = { 0 };
	int fds[COUNT + 2][2];
	void *first;

	for (unsigned int i = 0; i < COUNT + 2; i++) {
		stream_pair(fds[i]);
		receive(&r[i], fds[i][0]);
	}
	execute(loop);
	for (unsigned int i = 0; i < COUNT; i++) {
		transmit(fds[i][1], "taken");
		completes(&r[i].op, 5);
		for (unsigned int j = 0; j < i; j++)
			CHECK(r[i].buffer != r[j].buffer);
	}
	/* One waits, and one begins. */
	transmit(fds[COUNT][1], "kept");
	completes(&r[COUNT].op, -ENOBUFS);
	CHECK(!r[COUNT].buffer);
	receive(&r[COUNT], fds[COUNT][0]);
	completes(&r[COUNT].op, -ENOBUFS);
	/* Those that wait still do, and get the buffer that is returned. */
	execute(loop);
	CHECK(cosy_async_pending(&r[COUNT + 1].op));
	first = r[0].buffer;
	EQUAL(cosy_buffer_return(loop, first), 0);
	transmit(fds[COUNT + 1][1], "waited");
	completes(&r[COUNT + 1].op, 6);
	CHECK(r[COUNT + 1].buffer == first);
	EQUAL(cosy_buffer_return(loop, first), 0);
	receive(&r[COUNT], fds[COUNT][0]);
	received(&r[COUNT], "kept");
	for (unsigned int i = 1; i < COUNT; i++)
		EQUAL(cosy_buffer_return(loop, r[i].buffer), 0);
	for (unsigned int i = 0; i < COUNT + 2; i++)
		end_pair(fds[i]);
}

/* Without data, recv() returns 0 after a socket was shut down, and with MSG_DONTWAIT -EAGAIN. */
static void shut_down(void)
{
	static const int types[] = { SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM };
	struct cosy_receive r = { 0 };
	int fds[2];

	for (int i = 0; i < 6; i++) {
		EQUAL(socketpair(AF_UNIX, types[i / 2], 0, fds), 0);
		if (i % 2)
			transmit(fds[1], "before");
		else
			receive(&r, fds[0]);
		execute(loop);
		EQUAL(shutdown(fds[0], SHUT_RD), 0);
		if (i % 2) {
			receive(&r, fds[0]);
			received(&r, "before");
			receive(&r, fds[0]);
		}
		completes(&r.op, 0);
		CHECK(!r.buffer);
		end_pair(fds);
	}
}

/* A socket that cannot receive fails at once, also if all buffers are in use. */
static void cannot_receive(void)
{
	struct cosy_loop *all = loop;
	struct cosy_receive r = { 0 }, user = { 0 };
	int fds[2], fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	loop = make_loop();
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, 1), 0);
	stream_pair(fds);
	transmit(fds[1], "x");
	for (int listens = 0; listens < 2; listens++) {
		receive(&r, fd);
		completes(&r.op, -ENOTCONN);
		receive(&user, fds[0]);
		completes(&user.op, 1);
		receive(&r, fd);
		completes(&r.op, -ENOTCONN);
		EQUAL(cosy_buffer_return(loop, user.buffer), 0);
		transmit(fds[1], "x");
		EQUAL(listen(fd, 1), 0);
	}
	end(fd);
	end_pair(fds);
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

/* Cancelled before it is executed, and while it waits; also by the end of the descriptor. */
static void cancels(void)
{
	struct cosy_receive r = { 0 }, second = { 0 };
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 8; i++) {
		receive(&r, fds[0]);
		if (i & 1)
			execute(loop);
		if (i & 2)
			EQUAL(cosy_cancel_fd(loop, fds[0]), 1);
		else
			EQUAL(cosy_cancel(loop, &r.op), 0);
		completes(&r.op, -ECANCELED);
		CHECK(!r.buffer);
		EQUAL(cosy_cancel(loop, &r.op), -ENOENT);
	}
	transmit(fds[1], "still there");
	receive(&r, fds[0]);
	received(&r, "still there");
	/* Two that wait for one descriptor. */
	receive(&r, fds[0]);
	receive(&second, fds[0]);
	execute(loop);
	transmit(fds[1], "one");
	received(&r, "one");
	execute(loop);
	EQUAL(cosy_cancel(loop, &second.op), 0);
	completes(&second.op, -ECANCELED);
	receive(&r, fds[0]);
	execute(loop);
	end(fds[0]);
	completes(&r.op, -ECANCELED);
	end(fds[1]);
}

static unsigned int completed;

static void answer(struct cosy_async *op)
{
	struct cosy_receive *r = (struct cosy_receive *)op;
	int *fds = op->data;

	EQUAL(op->result, 4);
	EQUAL(send(fds[0], r->buffer, 4, 0), 4);
	EQUAL(cosy_buffer_return(loop, r->buffer), 0);
	completed++;
	receive(r, fds[0]);
}

/* More connections than buffers, and any number of them active. */
static void many(void)
{
	static const unsigned int sizes[] = { 1, 2, 3, COUNT };
	static struct cosy_receive r[CONNECTIONS];
	static int fds[CONNECTIONS][2];
	uint32_t sent[COUNT], got;

	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		stream_pair(fds[i]);
		r[i] = (struct cosy_receive){ .op = { .done = answer, .data = fds[i] } };
		receive(&r[i], fds[i][0]);
	}
	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int n = sizes[round % (sizeof(sizes) / sizeof(*sizes))];

		completed = 0;
		for (unsigned int i = 0; i < n; i++) {
			sent[i] = round * 1000 + i;
			EQUAL(send(fds[(round * 7 + i) % CONNECTIONS][1], &sent[i], 4, 0), 4);
		}
		while (completed < n)
			CHECK(cosy_wait(loop, 1, NULL) > 0);
		for (unsigned int i = 0; i < n; i++) {
			EQUAL(recv(fds[(round * 7 + i) % CONNECTIONS][1], &got, 4, 0), 4);
			EQUAL(got, sent[i]);
		}
	}
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		r[i].op.done = NULL;
		end_pair(fds[i]);
		EQUAL(r[i].op.result, -ECANCELED);
	}
}

/* Another thread may submit and cancel, but not wait or return a buffer. */
static void *elsewhere(void *argument)
{
	struct cosy_receive *r = argument;
	const struct timespec no_time = { 0 };

	EQUAL(cosy_wait(loop, 0, NULL), -EPERM);
	EQUAL(cosy_wait(loop, 1, &no_time), -EPERM);
	EQUAL(cosy_wait_for(loop, &r[0].op, &no_time), -EPERM);
	EQUAL(cosy_loop_run(loop), -EPERM);
	EQUAL(cosy_buffer_return(loop, memory[0]), -EPERM);
	EQUAL(cosy_async_receive(loop, &r[0], *(int *)r[0].op.data), 0);
	EQUAL(cosy_cancel(loop, &r[1].op), 0);
	return NULL;
}

static void threads(void)
{
	int a[2], b[2];
	struct cosy_receive r[2] = { { .op.data = a }, { 0 } };
	pthread_t thread;

	stream_pair(a);
	stream_pair(b);
	for (int i = 0; i < 20; i++) {
		receive(&r[1], b[0]);
		if (i & 1)
			execute(loop);
		if (i & 2)
			transmit(a[1], "arrived");
		EQUAL(pthread_create(&thread, NULL, elsewhere, r), 0);
		EQUAL(pthread_join(thread, NULL), 0);
		if (!(i & 2)) {
			EQUAL(cosy_wait(loop, 0, NULL), 1);
			transmit(a[1], "arrived");
		}
		received(&r[0], "arrived");
		completes(&r[1].op, -ECANCELED);
	}
	end_pair(a);
	end_pair(b);
}

static void *waits(void *argument)
{
	EQUAL(cosy_wait(argument, 1, NULL), 1);
	return NULL;
}

static void tries(struct cosy_async *op)
{
	EQUAL(cosy_loop_buffers(op->data, memory, SIZE, COUNT), -EBUSY);
}

/* A thread that waits already could take buffers, while the other one returns them. */
static void too_late(void)
{
	struct cosy_loop *all = loop;
	struct cosy_async op = { 0 };
	struct cosy_loop_info info;
	pthread_t thread;
	int fds[2];
	char byte;

	loop = make_loop();
	op.data = loop;
	stream_pair(fds);
	for (int i = 0; i < 2; i++) {
		EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
		EQUAL(pthread_create(&thread, NULL, waits, loop), 0);
		do
			EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
		while (!info.waiting);
		/* Where the thread waits, it has the loop or has been counted. */
		EQUAL(cosy_loop_buffers(loop, memory, SIZE, COUNT), -EBUSY);
		transmit(fds[1], "x");
		EQUAL(pthread_join(thread, NULL), 0);
		op.done = tries;
	}
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, COUNT), 0);
	close(fds[0]);
	close(fds[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

/* Buffers that were given to a loop before it uses the module, or after; and one with processors. */
static void loops(void)
{
	struct cosy_loop *all = loop;
	struct cosy_receive r = { 0 };
	struct cosy_async op = { 0 };
	char byte;
	int fds[2];

	loop = make_loop();
	stream_pair(fds);
	transmit(fds[1], "x");
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	completes(&op, 1);
	EQUAL(cosy_loop_buffers(loop, memory, SIZE, COUNT), 0);
	receive(&r, fds[0]);
	execute(loop);
	transmit(fds[1], "late buffers");
	received(&r, "late buffers");
	EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	receive(&r, fds[0]);
	transmit(fds[1], "processors");
	received(&r, "processors");
	receive(&r, fds[0]);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(r.op.result, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	loop = all;
}

/* In a child, and if a filter refuses the call. */
static void refused(void)
{
	struct cosy_receive r = { 0 };
	int fds[2], status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		stream_pair(fds);
		EQUAL(cosy_async_receive(loop, &r, fds[0]), -EPERM);
		EQUAL(cosy_buffer_return(loop, memory[0]), -EPERM);
		EQUAL(cosy_loop_destroy(loop), 0);
		loop = make_loop_with_buffers();
		receive(&r, fds[0]);
		execute(loop);
		transmit(fds[1], "before");
		received(&r, "before");
		receive(&r, fds[0]);
		execute(loop);
		forbid(SYS_recvfrom, ENOLINK, 0);
		transmit(fds[1], "after");
		completes(&r.op, -ENOLINK);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

int main(void)
{
	struct cosy_loop_info info;
	int fds[2];

	loop = make_loop_with_buffers();
	stream_pair(fds);
	requests(fds);
	tcp_pair(fds);
	requests(fds);
	errors();
	sizes();
	used_up();
	shut_down();
	cannot_receive();
	cancels();
	many();
	threads();
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.outstanding, 0);
	EQUAL(info.submitted, info.completed);
	too_late();
	loops();
	refused();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
