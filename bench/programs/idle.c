/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * idle WAY COUNT - the memory that a server needs for connections that are idle
 *
 * COUNT connections have sent one request each, and wait for the next one. WAY:
 *	epoll	 epoll, and one buffer
 *	receive	 an operation for each connection, which has a buffer
 *	buffer	 the same, but a receive takes one of 64 buffers when there is something to receive
 *
 * Prints the bytes for each connection, without those of its sockets: of the process, and of the
 * process and the kernel together. The machine has to do nothing else. Needs root, for the limit
 * of descriptors.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/async.h>

#define SIZE	4096
#define BUFFERS	64
#define BATCH	64

struct connection {
	struct cosy_receive receive;
	int server, client;
	char *buffer;
};

static struct connection *connections;
static unsigned long count, answered;
static struct cosy_loop *loop;
static int epoll;

/* The number of KiB that a line of a file in /proc gives. */
static unsigned long kib(const char *file, const char *name)
{
	char line[256];
	unsigned long n = 0;
	FILE *f = fopen(file, "r");

	if (!f)
		err(1, "%s", file);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			n = strtoul(line + strlen(name), NULL, 10);
	fclose(f);
	return n;
}

static unsigned long memory_of_process(void)
{
	return kib("/proc/self/status", "VmRSS:");
}

static unsigned long memory_free(void)
{
	return kib("/proc/meminfo", "MemFree:") + kib("/proc/meminfo", "Cached:") +
	       kib("/proc/meminfo", "Buffers:");
}

static void make_connections(void)
{
	const struct rlimit limit = { 2 * count + 64, 2 * count + 64 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "cannot have %lu descriptors", 2 * count + 64);
	connections = calloc(count, sizeof(*connections));
	if (!connections)
		err(1, "calloc");
	/* Present before it is measured. */
	memset(connections, 1, count * sizeof(*connections));
	for (unsigned long i = 0; i < count; i++) {
		int fds[2];

		connections[i] = (struct connection){ 0 };
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			err(1, "socketpair");
		connections[i].server = fds[0];
		connections[i].client = fds[1];
	}
}

static void send_request(const struct connection *c)
{
	if (send(c->client, "request", 7, 0) != 7)
		err(1, "send");
}

static void wait_by_epoll(void)
{
	static char buffer[SIZE];
	struct epoll_event events[BATCH];

	epoll = epoll_create1(0);
	for (unsigned long i = 0; i < count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].server, &event))
			err(1, "epoll_ctl");
	}
	for (unsigned long i = 0; i < count; i++) {
		struct connection *c;

		send_request(&connections[i]);
		if (epoll_wait(epoll, events, BATCH, -1) != 1)
			err(1, "epoll_wait");
		c = events[0].data.ptr;
		if (recv(c->server, buffer, sizeof(buffer), 0) != 7)
			err(1, "recv");
		answered++;
	}
}

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, strerror(-error));
}

static void received(struct cosy_async *op)
{
	struct connection *c = (struct connection *)op;

	if (op->result != 7)
		errx(1, "received %ld", (long)op->result);
	answered++;
	if (!c->buffer) {
		check(cosy_buffer_return(loop, c->receive.buffer), "cosy_buffer_return");
		check(cosy_async_receive(loop, &c->receive, c->server), "cosy_async_receive");
	} else {
		check(cosy_async_recv(loop, op, c->server, c->buffer, SIZE, 0), "cosy_async_recv");
	}
}

static void wait_by_loop(bool shared)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .entries = (uint32_t)count };
	char *buffers = malloc(shared ? SIZE * BUFFERS : SIZE * count);

	check(buffers ? cosy_loop_create(&loop, &options) : -ENOMEM, "cosy_loop_create");
	if (shared)
		check(cosy_loop_buffers(loop, buffers, SIZE, BUFFERS), "cosy_loop_buffers");
	for (unsigned long i = 0; i < count; i++) {
		struct connection *c = &connections[i];

		c->receive.op.done = received;
		c->buffer = shared ? NULL : buffers + i * SIZE;
		check(shared ? cosy_async_receive(loop, &c->receive, c->server) :
			       cosy_async_recv(loop, &c->receive.op, c->server, c->buffer, SIZE, 0),
		      "a receive");
	}
	for (unsigned long i = 0; i < count; i++) {
		send_request(&connections[i]);
		if (cosy_wait(loop, 1, NULL) != 1)
			errx(1, "cosy_wait");
	}
	while (cosy_wait(loop, 0, NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	unsigned long process, all;

	if (argc == 3)
		count = strtoul(argv[2], NULL, 10);
	if (!count || count > 1u << 20)
		errx(2, "usage: idle epoll|receive|buffer COUNT");
	make_connections();
	process = memory_of_process();
	all = memory_free();
	if (!strcmp(argv[1], "epoll"))
		wait_by_epoll();
	else if (!strcmp(argv[1], "receive") || !strcmp(argv[1], "buffer"))
		wait_by_loop(!strcmp(argv[1], "buffer"));
	else
		errx(2, "no way %s", argv[1]);
	if (answered != count)
		errx(1, "%lu of %lu requests", answered, count);
	printf("%s: %lu bytes of the process, %lu bytes with the kernel's\n", argv[1],
	       (memory_of_process() - process) * 1024 / count, (all - memory_free()) * 1024 / count);
	return 0;
}
