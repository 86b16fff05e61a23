/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A socket that an operation has polled, and from which others receive after that, wakes a sleeping loop once
 * for each message. libcosy leaves it in its epoll, for the next operation that polls; but that must not
 * report what the module receives.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "loop.h"

#define SOCKETS	 70
#define REQUESTS 140

static struct cosy_loop *loop;
static struct cosy_async ops[SOCKETS];
static int servers[SOCKETS], clients[SOCKETS], requests;
static char bytes[SOCKETS];

/* Send a request when the server sleeps, and receive its answer. */
static void request(int i)
{
	char byte = (char)i, answer = 0;

	while (!is_asleep(getppid()))
		sched_yield();
	EQUAL(send(clients[i % SOCKETS], &byte, 1, 0), 1);
	EQUAL(recv(clients[i % SOCKETS], &answer, 1, 0), 1);
	EQUAL(answer, byte);
}

static struct cosy_loop_info info(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info;
}

/* Poll all sockets, so that they are in epoll, and receive. */
static void poll_first(void)
{
	struct pollfd polls[SOCKETS];

	for (int i = 0; i < SOCKETS; i++) {
		polls[i] = (struct pollfd){ .fd = servers[i], .events = POLLIN };
		EQUAL(cosy_async_poll(loop, &ops[i], &polls[i], 1, -1), 0);
	}
	execute(loop);
	for (int i = 0; i < SOCKETS; i++) {
		EQUAL(send(clients[i], "", 1, 0), 1);
		EQUAL(result_of(loop, &ops[i]), 1);
		EQUAL(recv(servers[i], &bytes[i], 1, 0), 1);
	}
}

static void answer(struct cosy_async *op)
{
	long i = op - ops;

	EQUAL(op->result, 1);
	EQUAL(bytes[i], (char)requests);
	if (++requests == REQUESTS)
		cosy_loop_stop(loop);
	EQUAL(cosy_async_reply(loop, op, servers[i], &bytes[i], 1, 0, &bytes[i], 1), 0);
}

static void serve(void)
{
	uint64_t entries;
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < REQUESTS; i++)
			request(i);
		_exit(0);
	}
	for (int i = 0; i < SOCKETS; i++) {
		ops[i].done = answer;
		EQUAL(cosy_async_recv(loop, &ops[i], servers[i], &bytes[i], 1, 0), 0);
	}
	entries = info().entries;
	EQUAL(cosy_loop_run(loop), 1);
	execute(loop);
	entries = info().entries - entries;
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	/* Two were made for each before epoll forgot the sockets. */
	if (info().kernel && entries >= REQUESTS + REQUESTS / 2) {
		fprintf(stderr, "%lu entries for %d requests\n", entries, REQUESTS);
		exit(1);
	}
}

/* epoll reports again what an operation polls. */
static void poll_again(int i)
{
	struct pollfd poll = { .fd = servers[i], .events = POLLIN };

	ops[i].done = NULL;
	EQUAL(cosy_cancel(loop, &ops[i]), 0);
	EQUAL(result_of(loop, &ops[i]), -ECANCELED);
	EQUAL(cosy_async_poll(loop, &ops[i], &poll, 1, -1), 0);
	execute(loop);
	EQUAL(send(clients[i], "", 1, 0), 1);
	EQUAL(result_of(loop, &ops[i]), 1);
	EQUAL(cosy_async_close(loop, NULL, servers[i]), 0);
}

int main(void)
{
	struct pollfd event = { .fd = eventfd(0, 0), .events = POLLIN };
	struct cosy_async other = { 0 };

	loop = make_loop();
	for (int i = 0; i < SOCKETS; i++) {
		int fds[2];

		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		servers[i] = fds[0];
		clients[i] = fds[1];
	}
	/* As in a server that also waits for connections or other threads. */
	EQUAL(cosy_async_poll(loop, &other, &event, 1, -1), 0);
	poll_first();
	serve();
	for (int i = 0; i < SOCKETS; i++)
		poll_again(i);
	EQUAL(write(event.fd, &(uint64_t){ 1 }, 8), 8);
	EQUAL(result_of(loop, &other), 1);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
