/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread waits for a loop whose functions run in the module. They are served, and so are all
 * other events for which it waits: operations, timers, signals, other threads.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "functions.h"

#define CONNECTIONS 4

struct connection {
	int client, server;
	char buffer[64];
	struct cosy_async op;
};

static struct connection connections[CONNECTIONS];

COSY_ASYNC static int serve(struct connection *c)
{
	ssize_t n;

	while ((n = recv(c->server, c->buffer, sizeof(c->buffer), 0)) > 0) {
		if (send(c->server, c->buffer, (size_t)n, MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return n < 0 ? -errno : 0;
}

/* Execute all work that is possible now. */
static void deliver_all(void)
{
	while (cosy_wait(loop, 0, NULL) > 0)
		;
}

static void serve_all(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connections[i];
		int fds[2];

		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		*c = (struct connection){ .client = fds[0], .server = fds[1] };
		EQUAL(COSY_SPAWN(loop, serve(c), .op = &c->op), 0);
	}
	deliver_all();
}

static void hang_up_all(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		EQUAL(close(connections[i].client), 0);
		EQUAL(result_of(loop, &connections[i].op), 0);
		cosy_cancel_fd(loop, connections[i].server);
		EQUAL(close(connections[i].server), 0);
	}
}

static void ask(const struct connection *c)
{
	char got[8];

	EQUAL(send(c->client, "request", 7, 0), 7);
	EQUAL(recv(c->client, got, sizeof(got), 0), 7);
	EQUAL_BYTES(got, "request", 7);
}

/* A thread that always requests, so that there is always work. */
static atomic_bool stop_asking;
static atomic_uint asked;

static void *ask_all(void *unused)
{
	while (!stop_asking) {
		for (int i = 0; i < CONNECTIONS; i++) {
			ask(&connections[i]);
			asked++;
		}
	}
	return unused;
}

static void *ask_a_thousand_times(void *unused)
{
	for (int i = 0; i < 1000; i++)
		ask(&connections[i % CONNECTIONS]);
	cosy_loop_stop(loop);
	return unused;
}

static void handler(int sig)
{
	(void)sig;
}

static void busy(void)
{
	const struct timespec little = { .tv_nsec = 20000000 };
	struct cosy_async timer = { 0 }, got = { 0 };
	pthread_t thread;
	uint64_t begin;
	char byte;
	int fds[2];

	serve_all();
	EQUAL(pthread_create(&thread, NULL, ask_a_thousand_times, NULL), 0);
	EQUAL(cosy_loop_run(loop), 1);
	EQUAL(pthread_join(thread, NULL), 0);

	stop_asking = false;
	EQUAL(pthread_create(&thread, NULL, ask_all, NULL), 0);
	while (!asked)
		CHECK(cosy_wait(loop, 1, &little) >= 0);
	begin = now();
	EQUAL(cosy_async_timer(loop, &timer, &little, 0), 0);
	EQUAL(result_of(loop, &timer), 0);
	CHECK(now() - begin >= 20000000);
	CHECK(cosy_wait(loop, 1, &little) >= 0);
	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_read(loop, &got, fds[0], &byte, 1), 0);
	deliver_all();
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &got), 1);
	/* Requests are answered only while this thread waits. */
	stop_asking = true;
	EQUAL(cosy_async_timer(loop, &timer, &little, 0), 0);
	while (cosy_async_pending(&timer) || pthread_tryjoin_np(thread, NULL))
		CHECK(cosy_wait(loop, 1, &little) >= 0);
	cosy_cancel_fd(loop, fds[0]);
	EQUAL(close(fds[0]), 0);
	EQUAL(close(fds[1]), 0);
	hang_up_all();
}

/*
 * Other threads, while one waits.
 */

static _Atomic pid_t waiter;
static atomic_int wait_result;

static void *run(void *unused)
{
	waiter = gettid();
	wait_result = cosy_loop_run(loop);
	return unused;
}

static void *wait_for_one(void *unused)
{
	waiter = gettid();
	wait_result = cosy_wait(loop, 1, NULL);
	return unused;
}

static void begin_to_wait(pthread_t *thread, void *(*body)(void *))
{
	waiter = 0;
	EQUAL(pthread_create(thread, NULL, body, NULL), 0);
	while (!waiter || !is_asleep(waiter))
		sched_yield();
}

static int end_of(pthread_t thread)
{
	EQUAL(pthread_join(thread, NULL), 0);
	return wait_result;
}

static void other_threads(void)
{
	static const struct timespec at_once = { 0 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct cosy_async timer = { 0 }, late = { 0 };
	struct connection *c = connections;
	pthread_t thread;
	struct pollfd polled = { .events = POLLIN };

	serve_all();
	begin_to_wait(&thread, wait_for_one);
	EQUAL(cosy_async_timer(loop, &timer, &at_once, 0), 0);
	EQUAL(end_of(thread), 1);

	begin_to_wait(&thread, wait_for_one);
	EQUAL(cosy_cancel(loop, &c[0].op), 0);
	EQUAL(end_of(thread), 1);
	EQUAL(c[0].op.result, -ECANCELED);
	EQUAL(COSY_SPAWN(loop, serve(&c[0]), .op = &c[0].op), 0);
	deliver_all();

	begin_to_wait(&thread, wait_for_one);
	EQUAL(cosy_cancel_fd(loop, c[1].server), 1);
	EQUAL(end_of(thread), 1);
	EQUAL(c[1].op.result, -ECANCELED);

	begin_to_wait(&thread, wait_for_one);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	EQUAL(pthread_kill(thread, SIGUSR1), 0);
	EQUAL(end_of(thread), -EINTR);

	/* A function begins while a thread already waits. */
	begin_to_wait(&thread, run);
	EQUAL(COSY_SPAWN(loop, serve(&c[1]), .op = &c[1].op), 0);
	for (int i = 0; i < 100; i++)
		ask(&c[i % CONNECTIONS]);
	cosy_loop_stop(loop);
	EQUAL(end_of(thread), 1);

	/* Another event loop. */
	polled.fd = cosy_loop_fd(loop);
	CHECK(polled.fd >= 0);
	deliver_all();
	EQUAL(poll(&polled, 1, 0), 0);
	EQUAL(send(c[2].client, "x", 1, 0), 1);
	EQUAL(poll(&polled, 1, 60000), 1);
	EQUAL(cosy_async_timer(loop, &late, &at_once, 0), 0);
	EQUAL(result_of(loop, &late), 0);
	deliver_all();
	EQUAL(recv(c[2].client, c[2].buffer, 1, MSG_DONTWAIT), 1);
	hang_up_all();
}

/* An operation that completes while it is cancelled completes once, without losing data. */
static void cancelled_or_not(void)
{
	struct cosy_async never = { 0 };
	unsigned int received = 0, cancelled = 0;
	pthread_t thread;
	int fds[2], idle[2];

	serve_all();
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, idle), 0);
	EQUAL(cosy_async_recv(loop, &never, idle[0], connections[0].buffer, 1, 0), 0);
	deliver_all();
	begin_to_wait(&thread, run);
	for (int i = 0; i < 2000; i++) {
		struct cosy_async op = { 0 };
		char got = 0, left;
		int err;

		EQUAL(cosy_async_recv(loop, &op, fds[0], &got, 1, 0), 0);
		if (i & 1)
			sched_yield();
		EQUAL(send(fds[1], "x", 1, 0), 1);
		if (i & 2)
			sched_yield();
		err = cosy_cancel(loop, &op);
		CHECK(!err || err == -ENOENT);
		while (cosy_async_pending(&op))
			sched_yield();
		if (op.result == 1) {
			received++;
			EQUAL(got, 'x');
			EQUAL(recv(fds[0], &left, 1, MSG_DONTWAIT), -1);
		} else {
			cancelled++;
			EQUAL(op.result, -ECANCELED);
			EQUAL(recv(fds[0], &left, 1, MSG_DONTWAIT), 1);
		}
	}
	EQUAL(received + cancelled, 2000);
	cosy_loop_stop(loop);
	EQUAL(end_of(thread), 1);
	EQUAL(cosy_cancel(loop, &never), 0);
	EQUAL(result_of(loop, &never), -ECANCELED);
	for (int i = 0; i < 2; i++) {
		cosy_cancel_fd(loop, fds[i]);
		EQUAL(close(fds[i]), 0);
		cosy_cancel_fd(loop, idle[i]);
		EQUAL(close(idle[i]), 0);
	}
	hang_up_all();
}

/*
 * The module fails while a thread sleeps in it.
 */

static void close_all_loops(void)
{
	close_loops();
}

static void forbid_lseek_to_all(void)
{
	forbid_lseek(SECCOMP_FILTER_FLAG_TSYNC);
}

static void lost(void (*lose)(void))
{
	pthread_t thread;
	int status;
	pid_t child = fork();

	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(cosy_loop_create(&loop, NULL), 0);
		serve_all();
		begin_to_wait(&thread, run);
		for (int i = 0; i < 100; i++)
			ask(&connections[i % CONNECTIONS]);
		lose();
		for (int i = 0; i < 100; i++)
			ask(&connections[i % CONNECTIONS]);
		/* By this thread, too. */
		EQUAL(cosy_cancel(loop, &connections[0].op), 0);
		EQUAL(result_of(loop, &connections[0].op), -ECANCELED);
		for (int i = 1; i < CONNECTIONS; i++)
			EQUAL(close(connections[i].client), 0);
		EQUAL(end_of(thread), 0);
		_exit(0);
	}
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	busy();
	cancelled_or_not();
	other_threads();
	lost(close_all_loops);
	lost(forbid_lseek_to_all);
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
