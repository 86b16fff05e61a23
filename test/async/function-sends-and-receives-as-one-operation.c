/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A COSY_ASYNC function that does nothing between a send and the next receive makes both as one
 * operation. Each of them has its own result and errno, whatever ends the connection, the operation or the
 * function, and nothing is received before all of the answer was sent.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
// RUN: %async-compile -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
// RUN: %vm env COSY_EXECUTOR=kernel %t
#include <limits.h>

#include "serving.h"

#define ANSWER	  (1u << 20) /* More than a socket takes. */
#define FUNCTIONS 64

/**
 * struct client - what a function has told of its connection
 * @fd:	      the connection
 * @length:   bytes of an answer
 * @requests: number of requests
 * @sent:     result of the send that ended it; LONG_MIN: no send did
 * @received: the same of the receive
 * @error:    errno of that call
 * @cancels:  a function that is cancelled before the answer
 */
struct client {
	int fd;
	size_t length;
	unsigned int requests;
	long sent;
	long received;
	int error;
	struct cosy_async *cancels;
};

static char answer[ANSWER];

/* Assembly is no operation of a compound, so the function runs natively. */
__attribute__((noinline)) static size_t count_request(struct client *client)
{
	__asm__ volatile("incl %0" : "+m"(client->requests));
	if (client->cancels)
		EQUAL(cosy_cancel(loop, client->cancels), 0);
	errno = 1234;
	return client->length;
}

COSY_ASYNC static int answer_requests(struct client *client)
{
	const int fd = client->fd;
	char request[64];
	ssize_t n, sent;

	while ((n = recv(fd, request, sizeof(request), 0)) > 0) {
		size_t length = count_request(client);

		sent = send(fd, answer, length, MSG_NOSIGNAL);
		if (sent != (ssize_t)length) {
			client->sent = sent;
			client->error = errno;
			return 1;
		}
	}
	client->received = n;
	client->error = errno;
	return 0;
}

static struct client client_of(int fd, size_t length)
{
	return (struct client){
		.fd = fd, .length = length, .sent = LONG_MIN, .received = LONG_MIN,
	};
}

static void start(struct cosy_async *op, struct client *client)
{
	EQUAL(COSY_SPAWN(loop, answer_requests(client), .op = op), 0);
	settle();
	CHECK(cosy_async_pending(op));
}

static void ask(int fd)
{
	EQUAL(send(fd, "request", 7, 0), 7);
	settle();
}

static void takes(int fd, size_t length)
{
	static char taken[ANSWER];

	for (size_t at = 0; at < length;) {
		ssize_t n = recv(fd, taken + at, length - at, MSG_DONTWAIT);

		if (n < 0) {
			EQUAL(errno, EAGAIN);
			settle();
			continue;
		}
		CHECK(n > 0);
		at += (size_t)n;
	}
	EQUAL(memcmp(taken, answer, length), 0);
}

/* The function has ended with its receive. */
static void received(struct cosy_async *op, const struct client *client, long result, int error)
{
	EQUAL(result_of(loop, op), 0);
	EQUAL(client->sent, LONG_MIN);
	EQUAL(client->received, result);
	EQUAL(client->error, error);
}

/* The same with its send. */
static void sent(struct cosy_async *op, const struct client *client, long result, int error)
{
	EQUAL(result_of(loop, op), 1);
	EQUAL(client->received, LONG_MIN);
	EQUAL(client->sent, result);
	EQUAL(client->error, error);
}

/* Let a function answer one request, and wait for the next one. */
static void answer_one(struct cosy_async *op, struct client *client, const int fds[2])
{
	*client = client_of(fds[0], 5);
	start(op, client);
	ask(fds[1]);
	takes(fds[1], 5);
}

static void requests(void (*open_both)(int fds[2]))
{
	struct cosy_async op = { 0 };
	struct client client;
	int fds[2];

	open_both(fds);
	client = client_of(fds[0], 5);
	start(&op, &client);
	for (unsigned int i = 0; i < 20; i++) {
		/* The next request has arrived before the answer, or arrives later. */
		ask(fds[1]);
		if (i % 3 == 0)
			ask(fds[1]);
		takes(fds[1], 5);
	}
	settle();
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	received(&op, &client, 0, 1234);
	CHECK(client.requests > 1);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

static void whole_answer_comes_first(void)
{
	struct cosy_async op = { 0 };
	struct client client;
	int fds[2], size = 65536;

	open_pair(fds);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	client = client_of(fds[0], ANSWER);
	start(&op, &client);
	ask(fds[1]);
	ask(fds[1]);
	EQUAL(client.requests, 1);
	takes(fds[1], ANSWER);
	settle();
	EQUAL(client.requests, 2);
	takes(fds[1], ANSWER);
	/* The client is gone in the middle of an answer. */
	ask(fds[1]);
	EQUAL(client.requests, 3);
	close_fd(fds[1]);
	EQUAL(result_of(loop, &op), 1);
	/* What was sent before counts, as for a send that blocks. */
	CHECK(client.sent > 0 && client.sent < ANSWER);
	EQUAL(client.received, LONG_MIN);
	close_fd(fds[0]);
}

static void client_is_gone(void)
{
	const struct linger reset = { .l_onoff = 1 };
	struct cosy_async op = { 0 };
	struct client client;
	int fds[2];

	/* Before the answer. */
	open_pair(fds);
	client = client_of(fds[0], 5);
	start(&op, &client);
	EQUAL(send(fds[1], "request", 7, 0), 7);
	EQUAL(close(fds[1]), 0);
	sent(&op, &client, -1, EPIPE);
	EQUAL(client.requests, 1);
	close_fd(fds[0]);

	/* After the answer: the receive fails. */
	open_tcp_pair(fds);
	answer_one(&op, &client, fds);
	settle();
	EQUAL(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	EQUAL(close(fds[1]), 0);
	received(&op, &client, -1, ECONNRESET);
	close_fd(fds[0]);
}

static void cancelled(void)
{
	struct cosy_async op = { 0 };
	struct client client;
	int fds[2];

	/* The answer was sent, and the next request is awaited. */
	open_pair(fds);
	answer_one(&op, &client, fds);
	EQUAL(cosy_cancel(loop, &op), 0);
	received(&op, &client, -1, ECANCELED);
	EQUAL(recv(fds[1], answer, 1, MSG_DONTWAIT), -1);

	/* The same, by the descriptor. */
	answer_one(&op, &client, fds);
	CHECK(cosy_cancel_fd(loop, fds[0]) > 0);
	received(&op, &client, -1, ECANCELED);
	EQUAL(recv(fds[1], answer, 1, MSG_DONTWAIT), -1);
	close_fd(fds[0]);
	close_fd(fds[1]);
}

/* A function that was resumed later cancels one that has submitted its answer, but has not sent it. */
static void cancelled_before_it_is_sent(void)
{
	struct cosy_async first = { 0 }, second = { 0 };
	struct client a, b;
	int one[2], two[2];
	bool answered;

	open_pair(one);
	open_pair(two);
	a = client_of(one[0], 5);
	b = client_of(two[0], 3);
	start(&first, &a);
	start(&second, &b);
	b.cancels = &first;
	EQUAL(send(one[1], "request", 7, 0), 7);
	EQUAL(send(two[1], "request", 7, 0), 7);
	settle();
	CHECK(!cosy_async_pending(&first));
	answered = recv(one[1], (char[5]){ 0 }, 5, MSG_DONTWAIT) == 5;
	if (answered)
		received(&first, &a, -1, ECANCELED);
	else
		sent(&first, &a, -1, ECANCELED);
	takes(two[1], 3);
	b.cancels = NULL;
	EQUAL(shutdown(two[1], SHUT_WR), 0);
	received(&second, &b, 0, 1234);
	close_fd(one[0]);
	close_fd(one[1]);
	close_fd(two[0]);
	close_fd(two[1]);
}

/* No place of the loop is free for the sends of all. */
static void many(void)
{
	static struct cosy_async ops[FUNCTIONS];
	static struct client clients[FUNCTIONS];
	static int fds[FUNCTIONS][2];
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = FUNCTIONS };
	struct cosy_loop *usual = loop;

	EQUAL(cosy_loop_create(&loop, &options), 0);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		open_pair(fds[i]);
		clients[i] = client_of(fds[i][0], 1 + i);
		start(&ops[i], &clients[i]);
	}
	for (unsigned int round = 0; round < 5; round++) {
		for (unsigned int i = 0; i < FUNCTIONS; i++)
			EQUAL(send(fds[i][1], "request", 7, 0), 7);
		settle();
		for (unsigned int i = 0; i < FUNCTIONS; i++)
			takes(fds[i][1], 1 + i);
	}
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
		received(&ops[i], &clients[i], 0, 1234);
		EQUAL(clients[i].requests, 5);
		close_fd(fds[i][0]);
		close_fd(fds[i][1]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	loop = usual;
}

int main(void)
{
	for (size_t i = 0; i < ANSWER; i++)
		answer[i] = (char)(i * 7 + i / 256);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	requests(open_pair);
	requests(open_tcp_pair);
	whole_answer_comes_first();
	client_is_gone();
	cancelled();
	cancelled_before_it_is_sent();
	many();
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
