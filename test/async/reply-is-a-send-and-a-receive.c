/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A reply completes once, as its receive: after all of its answer was sent, and the next request has
 * arrived. If the answer was not sent, it completes with the reason, and receives nothing. Calls without an
 * operation do not complete, and leave their places to others.
 */
// RUN: %compile
// RUN: %everywhere
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "descriptors.h"
#include "filter.h"

#define ANSWER (1u << 20) /* More than a socket takes. */
#define CONNECTIONS 70
#define ROUNDS 200

static char answer[ANSWER], request[64];

/* Reply with @length bytes of the answer. */
static void reply(struct cosy_async *op, int fd, size_t length)
{
	EQUAL(cosy_async_reply(loop, op, fd, answer, length, MSG_NOSIGNAL, request, sizeof(request)),
	      0);
}

/* Receive @length bytes of the answer. */
static void take(int fd, size_t length)
{
	static char taken[ANSWER];

	for (size_t at = 0; at < length;) {
		ssize_t n = recv(fd, taken + at, length - at, 0);

		CHECK(n > 0);
		at += (size_t)n;
	}
	EQUAL(memcmp(taken, answer, length), 0);
}

static void stream_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void requests(int fds[2])
{
	struct cosy_async op = { 0 };

	/* The request has arrived before, or arrives later. */
	for (unsigned int i = 0; i < 20; i++) {
		if (i % 2)
			EQUAL(send(fds[1], "request", 7, 0), 7);
		reply(&op, fds[0], 1 + i);
		if (!(i % 2)) {
			execute(loop);
			CHECK(cosy_async_pending(&op));
			take(fds[1], 1 + i);
			EQUAL(send(fds[1], "request", 7, 0), 7);
		}
		completes(&op, 7);
		EQUAL(memcmp(request, "request", 7), 0);
		if (i % 2)
			take(fds[1], 1 + i);
	}
	/* The client ends the connection. */
	reply(&op, fds[0], 3);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	completes(&op, 0);
	take(fds[1], 3);
	end(fds[0]);
	end(fds[1]);
}

/* The answer does not fit into the socket: nothing is received before all of it was sent. */
static void large(int fds[2])
{
	struct cosy_async op = { 0 };
	int size = 65536;

	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	EQUAL(setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	EQUAL(send(fds[1], "early", 5, 0), 5);
	reply(&op, fds[0], ANSWER);
	execute(loop);
	CHECK(cosy_async_pending(&op));
	take(fds[1], 1000);
	execute(loop);
	CHECK(cosy_async_pending(&op));
	for (size_t at = 1000; at < ANSWER;) {
		static char some[4096];
		ssize_t n = recv(fds[1], some, sizeof(some), MSG_DONTWAIT);

		if (n < 0) {
			EQUAL(errno, EAGAIN);
			/* When the socket has taken the last byte, the request is received. */
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
			continue;
		}
		EQUAL(memcmp(some, answer + at, (size_t)n), 0);
		at += (size_t)n;
	}
	completes(&op, 5);
	end(fds[0]);
	end(fds[1]);
}

static void failures(void)
{
	struct cosy_async op = { 0 }, other = { 0 };
	int fds[2], pipes[2];

	EQUAL(cosy_async_reply(loop, NULL, 0, answer, 1, 0, request, 1), -EINVAL);
	/* The client is gone. */
	stream_pair(fds);
	close(fds[1]);
	reply(&op, fds[0], 5);
	completes(&op, -EPIPE);
	EQUAL(cosy_async_reply(loop, &op, fds[0], answer, 1, MSG_NOSIGNAL, request, 1), 0);
	EQUAL(cosy_async_reply(loop, &op, fds[0], answer, 1, MSG_NOSIGNAL, request, 1), -EBUSY);
	completes(&op, -EPIPE);
	end(fds[0]);
	reply(&op, fds[0], 5);
	completes(&op, -EBADF);
	reply(&op, -1, 5);
	completes(&op, -EBADF);
	EQUAL(pipe(pipes), 0);
	reply(&op, pipes[1], 5);
	completes(&op, -ENOTSOCK);
	end(pipes[0]);
	end(pipes[1]);
	/* The memory cannot be read, or written. The receive waits for something to receive. */
	stream_pair(fds);
	EQUAL(cosy_async_reply(loop, &op, fds[0], (void *)8, 5, 0, request, 5), 0);
	completes(&op, -EFAULT);
	EQUAL(send(fds[1], "request", 7, 0), 7);
	EQUAL(cosy_async_reply(loop, &op, fds[0], answer, 5, 0, (void *)8, 5), 0);
	completes(&op, -EFAULT);
	take(fds[1], 5);
	/* No byte of an answer, or of a request. */
	reply(&op, fds[0], 0);
	completes(&op, 7);
	/* A send that does not wait fails, and an error does not end operations behind it. */
	while (send(fds[0], answer, 4096, MSG_DONTWAIT) > 0)
		;
	EQUAL(cosy_async_reply(loop, &op, fds[0], answer, ANSWER, MSG_DONTWAIT, request, 5), 0);
	EQUAL(cosy_async_recv(loop, &other, fds[0], request, 5, 0), 0);
	completes(&op, -EAGAIN);
	EQUAL(send(fds[1], "next", 4, 0), 4);
	completes(&other, 4);
	end(fds[0]);
	end(fds[1]);
}

static void datagrams(void)
{
	struct cosy_async op = { 0 };
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	reply(&op, fds[0], 9);
	execute(loop);
	EQUAL(recv(fds[1], request, sizeof(request), 0), 9);
	EQUAL(send(fds[1], "record", 6, 0), 6);
	completes(&op, 6);
	end(fds[0]);
	end(fds[1]);
}

/* Sends, and replies, are executed in the order of their submission. */
static void in_order(void)
{
	struct cosy_async send_op = { 0 }, first = { 0 }, second = { 0 };
	char a = 0, b = 0, sent[8] = "";
	int fds[2];

	stream_pair(fds);
	EQUAL(cosy_async_send(loop, &send_op, fds[0], "1", 1, 0), 0);
	EQUAL(cosy_async_reply(loop, &first, fds[0], "2", 1, 0, &a, 1), 0);
	EQUAL(cosy_async_reply(loop, &second, fds[0], "3", 1, 0, &b, 1), 0);
	EQUAL(cosy_async_send(loop, NULL, fds[0], "4", 1, 0), 0);
	completes(&send_op, 1);
	execute(loop);
	EQUAL(recv(fds[1], sent, sizeof(sent), 0), 4);
	EQUAL(strcmp(sent, "1234"), 0);
	EQUAL(send(fds[1], "ab", 2, 0), 2);
	completes(&second, 1);
	CHECK(!cosy_async_pending(&first));
	EQUAL(a, 'a');
	EQUAL(b, 'b');
	end(fds[0]);
	end(fds[1]);
}

static void cancelled(bool whole_descriptor, int fds[2], struct cosy_async *op)
{
	if (whole_descriptor)
		CHECK(cosy_cancel_fd(loop, fds[0]) >= 1);
	else
		EQUAL(cosy_cancel(loop, op), 0);
	completes(op, -ECANCELED);
	EQUAL(cosy_cancel(loop, op), -ENOENT);
}

/* Cancelled before it is executed, while it sends, and while it receives. */
static void cancels(bool whole_descriptor)
{
	struct cosy_async op = { 0 };
	char byte;
	int fds[2];

	stream_pair(fds);
	reply(&op, fds[0], 10);
	cancelled(whole_descriptor, fds, &op);
	EQUAL(recv(fds[1], &byte, 1, MSG_DONTWAIT), -1);

	reply(&op, fds[0], 10);
	execute(loop);
	cancelled(whole_descriptor, fds, &op);
	take(fds[1], 10);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	reply(&op, fds[0], 10);
	completes(&op, 1);
	take(fds[1], 10);

	reply(&op, fds[0], ANSWER);
	execute(loop);
	cancelled(whole_descriptor, fds, &op);
	end(fds[0]);
	end(fds[1]);
}

static unsigned int completed;

static void count(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	completed++;
}

/* Many connections, in rounds of all sizes around those at which the way changes. */
static void many(void)
{
	static const unsigned int sizes[] = { 1, 2, 3, 4, 31, 32, 33, 63, 64, 65, CONNECTIONS };
	static struct cosy_async ops[CONNECTIONS];
	static int fds[CONNECTIONS][2];
	static char bytes[CONNECTIONS];
	char byte;

	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		stream_pair(fds[i]);
		ops[i].done = count;
	}
	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int n = sizes[round % (sizeof(sizes) / sizeof(*sizes))];

		completed = 0;
		for (unsigned int i = 0; i < n; i++)
			EQUAL(cosy_async_reply(loop, &ops[i], fds[i][0], "!", 1, 0, &bytes[i], 1), 0);
		if (round % 3)
			execute(loop);
		for (unsigned int i = 0; i < n; i++) {
			byte = (char)(i + round);
			EQUAL(send(fds[i][1], &byte, 1, 0), 1);
		}
		while (completed < n)
			CHECK(cosy_wait(loop, 1, NULL) > 0);
		for (unsigned int i = 0; i < n; i++) {
			EQUAL(bytes[i], (char)(i + round));
			EQUAL(recv(fds[i][1], &byte, 1, 0), 1);
			EQUAL(byte, '!');
		}
	}
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		end(fds[i][0]);
		end(fds[i][1]);
	}
}

/* Replies and calls without an operation leave their places to others. */
static void places(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = 64 };
	struct cosy_loop *all = loop;
	struct cosy_async ops[33] = { 0 };
	struct cosy_loop_info info;
	char byte;
	int fds[2];

	EQUAL(cosy_loop_create(&loop, &options), 0);
	stream_pair(fds);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < 32; i++)
			reply(&ops[i], fds[0], 1);
		EQUAL(cosy_async_reply(loop, &ops[32], fds[0], answer, 1, 0, request, 1), -EAGAIN);
		for (unsigned int i = 0; i < 32; i++) {
			execute(loop);
			EQUAL(send(fds[1], "r", 1, 0), 1);
			completes(&ops[i], 1);
			take(fds[1], 1);
		}
		for (unsigned int i = 0; i < 64; i++)
			EQUAL(cosy_async_send(loop, NULL, fds[0], answer, 1, 0), 0);
		EQUAL(cosy_async_send(loop, NULL, fds[0], answer, 1, 0), -EAGAIN);
		execute(loop);
		for (unsigned int i = 0; i < 64; i++)
			take(fds[1], 1);
		/* They end, and do not keep a thread waiting. */
		EQUAL(cosy_async_send(loop, NULL, fds[0], answer, 1, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		take(fds[1], 1);
	}
	/* Also if the socket is full. */
	for (unsigned int i = 0; i < 64; i++)
		EQUAL(cosy_async_send(loop, NULL, fds[0], answer, ANSWER / 8, 0), 0);
	for (unsigned int i = 0; i < 64; i++) {
		for (size_t at = 0; at < ANSWER / 8;) {
			static char some[4096];
			size_t size = ANSWER / 8 - at;
			ssize_t n = recv(fds[1], some, size < sizeof(some) ? size : sizeof(some),
					 MSG_DONTWAIT);

			if (n < 0)
				EQUAL(cosy_wait(loop, 0, NULL), 0);
			else
				EQUAL(memcmp(some, answer + at, (size_t)n), 0);
			at += n < 0 ? 0 : (size_t)n;
		}
	}
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(recv(fds[1], &byte, 1, MSG_DONTWAIT), -1);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(info.outstanding, 0);
	EQUAL(info.submitted, info.completed);
	end(fds[0]);
	end(fds[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

/* Another thread waits, and has the ring. */
static void *serve(void *unused)
{
	(void)unused;
	EQUAL(cosy_loop_run(loop), 0);
	return NULL;
}

static void from_another_thread(void)
{
	struct cosy_async op = { .done = NULL }, keeps = { 0 };
	pthread_t thread;
	int fds[2], idle[2];

	stream_pair(fds);
	stream_pair(idle);
	EQUAL(cosy_async_recv(loop, &keeps, idle[0], request, 1, 0), 0);
	EQUAL(pthread_create(&thread, NULL, serve, NULL), 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		reply(&op, fds[0], 3);
		take(fds[1], 3);
		EQUAL(send(fds[1], "r", 1, 0), 1);
		completes(&op, 1);
	}
	EQUAL(send(idle[1], "x", 1, 0), 1);
	EQUAL(pthread_join(thread, NULL), 0);
	end(fds[0]);
	end(fds[1]);
	end(idle[0]);
	end(idle[1]);
}

/* Processors execute both parts. */
static void on_processors(void)
{
	struct cosy_loop *all = loop;
	struct cosy_async op = { 0 };
	int fds[2];

	loop = make_loop();
	EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	stream_pair(fds);
	for (unsigned int i = 0; i < 20; i++) {
		reply(&op, fds[0], 5);
		take(fds[1], 5);
		EQUAL(send(fds[1], "r", 1, 0), 1);
		completes(&op, 1);
	}
	EQUAL(cosy_async_reply(loop, cosy_async_on(&op, 4000), fds[0], answer, 1, 0, request, 1),
	      -EINVAL);
	op.state = 0;
	reply(&op, fds[0], ANSWER);
	EQUAL(cosy_cancel(loop, &op), 0);
	completes(&op, -ECANCELED);
	end(fds[0]);
	end(fds[1]);
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = all;
}

/* What is outstanding when the loop is destroyed is cancelled. */
static void destroyed(void)
{
	struct cosy_loop *all = loop;
	struct cosy_async untaken = { 0 }, sends = { 0 }, receives = { 0 };
	int a[2], b[2], c[2];

	loop = make_loop();
	stream_pair(a);
	stream_pair(b);
	stream_pair(c);
	reply(&sends, a[0], ANSWER);
	reply(&receives, b[0], 1);
	execute(loop);
	reply(&untaken, c[0], 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(sends.result, -ECANCELED);
	EQUAL(receives.result, -ECANCELED);
	EQUAL(untaken.result, -ECANCELED);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
		close(c[i]);
	}
	loop = all;
}

/* A child sees that the send is refused; its parent continues. */
static void refused(void)
{
	struct cosy_async op = { 0 };
	int fds[2], status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		stream_pair(fds);
		EQUAL(cosy_async_reply(loop, &op, fds[0], answer, 1, 0, request, 1), -EPERM);
		loop = make_loop();
		reply(&op, fds[0], 1);
		execute(loop);
		EQUAL(send(fds[1], "r", 1, 0), 1);
		completes(&op, 1);
		forbid(SYS_sendto, ENOLINK, 0);
		reply(&op, fds[0], 1);
		completes(&op, -ENOLINK);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

int main(void)
{
	int fds[2];

	for (size_t i = 0; i < ANSWER; i++)
		answer[i] = (char)(i * 7 + i / 251);
	loop = make_loop();
	stream_pair(fds);
	requests(fds);
	tcp_pair(fds);
	requests(fds);
	stream_pair(fds);
	large(fds);
	tcp_pair(fds);
	large(fds);
	stream_pair(fds);
	set_nonblock(fds[0], true);
	large(fds);
	failures();
	datagrams();
	in_order();
	cancels(false);
	cancels(true);
	many();
	places();
	from_another_thread();
	on_processors();
	destroyed();
	refused();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
