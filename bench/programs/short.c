/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * short KIND WORKERS CONNECTIONS - a service of short TCP connections
 *
 * A server with WORKERS threads accepts CONNECTIONS connections on the loopback interface: it receives 64 bytes,
 * sends 64 bytes, and closes. Another process is the client, which has 16 connections at a time.
 *
 *	epoll		each worker has an epoll and a listening socket, with SO_REUSEPORT
 *	epoll-shared	all epolls watch one listening socket, with EPOLLEXCLUSIVE
 *	epoll-more	as epoll, but it sends with MSG_MORE: close() sends the answer and the end of the
 *			connection as one packet
 *	loop		each worker has a loop and a listening socket, with SO_REUSEPORT
 *	loop-shared	the loops accept from one listening socket
 *	loop-more	as loop, with MSG_MORE
 *	loop-share	as loop, but the sockets of a worker are in its share
 *
 * Prints the time, the CPU time of the server, and that for each connection. In a VM that counts instructions,
 * a nanosecond is an instruction. CPU time includes what the kernel does for the client's packets while a
 * thread of the server runs.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cosy/async.h>
#include <cosy/share.h>

#include "marks.h"

#define SIZE		64
#define AT_A_TIME	16
#define MAX_WORKERS	64

/* A connection of a loop. */
struct connection {
	struct worker *worker;
	struct cosy_async op;
	int fd;
	char data[SIZE];
	struct connection *next;
};

struct worker {
	pthread_t thread;
	int listener;
	struct cosy_loop *loop;
	struct cosy_share *share;
	struct cosy_async accept;
	struct connection *unused;
};

static enum { EPOLL, EPOLL_SHARED, EPOLL_MORE, LOOP, LOOP_SHARED, LOOP_MORE, LOOP_SHARE } kind;
static int send_flags = MSG_NOSIGNAL;
static unsigned int workers;
static struct worker all[MAX_WORKERS];
static struct sockaddr_in address = { .sin_family = AF_INET };

static void check(long result, const char *what)
{
	if (result < 0)
		errx(1, "%s: %s", what, strerror((int)-result));
}

/* A system call, in the share of the worker if it has one. */
static long call(struct worker *w, long nr, long a, long b, long c, long d, long e)
{
	const uint64_t args[6] = { (uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d, (uint64_t)e };
	long ret;

	if (w->share)
		return cosy_share_syscall(w->share, nr, args);
	ret = syscall(nr, a, b, c, d, e);
	return ret < 0 ? -errno : ret;
}

static int make_listener(struct worker *w)
{
	socklen_t size = sizeof(address);
	const int one = 1;
	long fd = call(w, SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0, 0, 0);

	check(fd, "socket");
	check(call(w, SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEPORT, (long)&one, sizeof(one)), "setsockopt");
	check(call(w, SYS_bind, fd, (long)&address, size, 0, 0), "bind");
	check(call(w, SYS_listen, fd, 4 * AT_A_TIME, 0, 0, 0), "listen");
	check(call(w, SYS_getsockname, fd, (long)&address, (long)&size, 0, 0), "getsockname");
	return (int)fd;
}

/* Answer a request, if it is there. Return false if it is not. */
static bool answer(int fd)
{
	char data[SIZE];
	ssize_t n = recv(fd, data, SIZE, 0);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > 0 && send(fd, data, (size_t)n, send_flags) != n)
		err(1, "send");
	close(fd);
	return true;
}

static void accept_by_epoll(int epoll, int listener)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		event.data.fd = fd;
		if (!answer(fd) && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			err(1, "epoll_ctl");
	}
}

static void serve_by_epoll(struct worker *w)
{
	struct epoll_event events[64], event = { .events = EPOLLIN, .data.fd = w->listener };
	int epoll = epoll_create1(0), n;

	if (kind == EPOLL_SHARED)
		event.events |= EPOLLEXCLUSIVE;
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, w->listener, &event))
		err(1, "epoll");
	for (;;) {
		n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == w->listener)
				accept_by_epoll(epoll, w->listener);
			else
				answer(events[i].data.fd);
		}
	}
}

static void closed(struct cosy_async *op)
{
	struct connection *c = op->data;

	check((long)op->result, "close");
	c->next = c->worker->unused;
	c->worker->unused = c;
}

static void received(struct cosy_async *op)
{
	struct connection *c = op->data;

	/* Both are made in one entry into the kernel, in this order. There is room for a short answer. */
	if (op->result > 0)
		check(cosy_async_send(c->worker->loop, NULL, c->fd, c->data, (uint64_t)op->result, send_flags),
		      "cosy_async_send");
	op->done = closed;
	check(cosy_async_close(c->worker->loop, op, c->fd), "cosy_async_close");
}

static void accept_next(struct worker *w);

static void accepted(struct cosy_async *op)
{
	struct worker *w = op->data;
	struct connection *c = w->unused;

	check((long)op->result, "accept4");
	if (c)
		w->unused = c->next;
	else
		c = calloc(1, sizeof(*c));
	if (!c)
		err(1, "calloc");
	c->worker = w;
	c->fd = (int)op->result;
	c->op.done = received;
	c->op.data = c;
	check(cosy_async_recv(w->loop, &c->op, c->fd, c->data, SIZE, 0), "cosy_async_recv");
	accept_next(w);
}

static void accept_next(struct worker *w)
{
	w->accept.done = accepted;
	w->accept.data = w;
	check(cosy_async_accept4(w->loop, &w->accept, w->listener, NULL, NULL, SOCK_NONBLOCK),
	      "cosy_async_accept4");
}

/* If it is wanted, let a worker stay on the CPU with its number, unless there are fewer. */
static void pin(const struct worker *w)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(w - all), &set);
	if (marks_pin())
		sched_setaffinity(0, sizeof(set), &set);
}

static void *serve(void *arg)
{
	struct worker *w = arg;

	pin(w);
	if (kind < LOOP) {
		serve_by_epoll(w);
	} else {
		check(cosy_loop_create(&w->loop, NULL), "cosy_loop_create");
		accept_next(w);
		check(cosy_loop_run(w->loop), "cosy_loop_run");
	}
	return NULL;
}

/* The server, which is killed. */
static void run_server(int ready)
{
	for (unsigned int i = 0; i < workers; i++) {
		struct worker *w = &all[i];

		if (kind == LOOP_SHARE)
			check(cosy_share_create(&w->share, NULL), "cosy_share_create");
		w->listener = i && (kind == EPOLL_SHARED || kind == LOOP_SHARED) ? all[0].listener :
										   make_listener(w);
	}
	if (write(ready, &address, sizeof(address)) != sizeof(address))
		err(1, "write");
	for (unsigned int i = 1; i < workers; i++) {
		if (pthread_create(&all[i].thread, NULL, serve, &all[i]))
			errx(1, "pthread_create");
	}
	serve(&all[0]);
}

/* Make @n connections at the same time. */
static void ask(int n)
{
	char data[SIZE] = { 0 };
	int fds[AT_A_TIME];

	for (int i = 0; i < n; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fds[i] < 0 || connect(fds[i], (struct sockaddr *)&address, sizeof(address)))
			err(1, "connect");
		if (send(fds[i], data, SIZE, 0) != SIZE)
			err(1, "send");
	}
	for (int i = 0; i < n; i++) {
		if (recv(fds[i], data, SIZE, MSG_WAITALL) != SIZE || recv(fds[i], data, SIZE, 0))
			errx(1, "a wrong answer");
		close(fds[i]);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "epoll", "epoll-shared", "epoll-more", "loop", "loop-shared",
					     "loop-more", "loop-share" };
	struct rusage usage;
	int ready[2];
	double begin, end, cpu;
	long count;
	pid_t server;
	size_t k;

	if (argc != 4)
		errx(2, "usage: short KIND WORKERS CONNECTIONS");
	for (k = 0; k < sizeof(names) / sizeof(*names) && strcmp(argv[1], names[k]); k++)
		;
	if (k == sizeof(names) / sizeof(*names))
		errx(2, "no kind is called %s", argv[1]);
	kind = (int)k;
	if (kind == EPOLL_MORE || kind == LOOP_MORE)
		send_flags |= MSG_MORE;
	workers = (unsigned int)atoi(argv[2]);
	count = atol(argv[3]);
	if (!workers || workers > MAX_WORKERS || count <= 0)
		errx(2, "WORKERS is from 1 to %d, and CONNECTIONS at least 1", MAX_WORKERS);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (pipe(ready))
		err(1, "pipe");
	server = fork();
	if (server < 0)
		err(1, "fork");
	if (!server) {
		close(ready[0]);
		run_server(ready[1]);
		return 1;
	}
	close(ready[1]);
	if (read(ready[0], &address, sizeof(address)) != sizeof(address))
		errx(1, "the server has failed");
	begin = seconds();
	marks_begin();
	for (long left = count; left > 0; left -= AT_A_TIME)
		ask(left < AT_A_TIME ? (int)left : AT_A_TIME);
	marks_end();
	end = seconds();
	kill(server, SIGKILL);
	if (wait4(server, NULL, 0, &usage) != server)
		err(1, "wait4");
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	printf("%.3f s, CPU time %.3f s\nof each connection: %.2f us, %.2f us of the server, %.2f context switches\n",
	       end - begin, cpu, (end - begin) * 1e6 / (double)count, cpu * 1e6 / (double)count,
	       (double)(usage.ru_nvcsw + usage.ru_nivcsw) / (double)count);
	return 0;
}
