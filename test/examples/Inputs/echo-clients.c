// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * echo-clients.c - clients of examples/echo, many at once.
 *
 *	echo-clients ADDRESS COUNT	make COUNT connections of five kinds, and a last one
 *	echo-clients --idle ADDRESS COUNT	leave COUNT connections open until they are closed
 *
 * Connections are accepted in order, so when the last one has its answer, all have been accepted.
 * ADDRESS is a path or a port. The data depends only on the number of the connection. A line for
 * each connection shows the answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHUNK 20000
#define RANDOM 65536	/* at least CHUNK */

enum kind {
	HALF_CLOSE,	/* sends, shuts down, receives */
	CLOSE,		/* sends, receives the same amount, closes */
	RESET,		/* sends, and resets the connection */
	SLOW,		/* receives only when it cannot send any more */
	SILENT,		/* sends nothing */
	KINDS
};

static const char *const names[] = { "half-close", "close", "reset", "slow", "silent" };

struct client {
	int fd;
	enum kind kind;
	uint32_t seed;
	size_t size, sent, received;
	bool reads, ended;
	const char *wrong;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

/* The data of a connection: random bytes from a position of its own. */
static unsigned char random_bytes[2 * RANDOM];

static const unsigned char *bytes_at(const struct client *c, size_t at)
{
	return random_bytes + (c->seed + at) % RANDOM;
}

static void make_random_bytes(void)
{
	for (uint32_t i = 0; i < 2 * RANDOM; i++)
		random_bytes[i] = (unsigned char)mix(i % RANDOM);
}

static int connect_to(const char *address)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	bool unix_socket = strchr(address, '/');
	int fd = socket(unix_socket ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	if (unix_socket)
		strncpy(un.sun_path, address, sizeof(un.sun_path) - 1);
	else
		in.sin_port = htons((uint16_t)atoi(address));
	if (fd < 0 || connect(fd, unix_socket ? (struct sockaddr *)&un : (struct sockaddr *)&in,
			      unix_socket ? sizeof(un) : sizeof(in)))
		die("connect");
	return fd;
}

static void finish(struct client *c, const char *wrong)
{
	c->wrong = wrong;
	c->ended = true;
	close(c->fd);
	c->fd = -1;
}

static void all_is_sent(struct client *c)
{
	const struct linger now = { .l_onoff = 1 };

	c->reads = true;
	if (c->kind == RESET) {
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		finish(c, NULL);
	} else if (c->kind != CLOSE) {
		shutdown(c->fd, SHUT_WR);
	} else if (c->received == c->size) {
		finish(c, NULL);
	}
}

static void send_some(struct client *c)
{
	size_t n = 1 + mix(c->seed + (uint32_t)c->sent) % CHUNK;
	ssize_t sent;

	if (n > c->size - c->sent)
		n = c->size - c->sent;
	sent = send(c->fd, bytes_at(c, c->sent), n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0 && errno != EAGAIN) {
		finish(c, "cannot send");
		return;
	}
	if (sent < (ssize_t)n)
		c->reads = true;
	if (sent > 0)
		c->sent += (size_t)sent;
	if (c->sent == c->size)
		all_is_sent(c);
}

static void receive_some(struct client *c)
{
	unsigned char buffer[CHUNK];
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN)
			finish(c, "cannot receive");
		return;
	}
	if (n == 0) {
		finish(c, c->received < c->size ? "too little came back" : NULL);
		return;
	}
	if ((size_t)n > c->size - c->received ||
	    memcmp(buffer, bytes_at(c, c->received), (size_t)n)) {
		finish(c, "something else came back");
		return;
	}
	c->received += (size_t)n;
	if (c->kind == CLOSE && c->received == c->size && c->sent == c->size)
		finish(c, NULL);
}

static void run(struct client *clients, unsigned int count)
{
	struct pollfd *fds = calloc(count, sizeof(*fds));
	unsigned int open = count;

	while (open > 0) {
		for (unsigned int i = 0; i < count; i++) {
			struct client *c = &clients[i];

			fds[i].fd = c->fd;
			fds[i].events = (short)((c->sent < c->size ? POLLOUT : 0) |
						(c->reads ? POLLIN : 0));
		}
		if (poll(fds, count, 60000) <= 0) {
			fprintf(stderr, "nothing happens: %u open\n", open);
			exit(1);
		}
		for (unsigned int i = 0; i < count; i++) {
			struct client *c = &clients[i];

			if (fds[i].fd < 0)
				continue;
			if (fds[i].revents & POLLOUT)
				send_some(c);
			else if (fds[i].revents)
				receive_some(c);
			open -= c->ended;
		}
	}
	free(fds);
}

static void start(struct client *c, const char *address, unsigned int i)
{
	c->kind = i % KINDS;
	c->fd = connect_to(address);
	c->seed = mix(i + 1);
	c->size = 1 + mix(i + 1000) % (i % 3 ? 300 : 60000);
	if (c->kind == SILENT)
		c->size = 0;
	/* More data than the buffers of a unix socket: a send transfers a part. */
	if (c->kind == SLOW)
		c->size = 600000;
	c->reads = c->kind != SLOW;
	if (c->kind == SILENT)
		all_is_sent(c);
	while (!c->reads)
		send_some(c);
}

/* The data is answered; then there is no traffic until the server closes. */
static int leave_open(const char *address, unsigned int count)
{
	int *fds = calloc(count, sizeof(*fds));
	char byte = 'x';

	for (unsigned int i = 0; i < count; i++) {
		fds[i] = connect_to(address);
		if (send(fds[i], &byte, 1, 0) != 1 || recv(fds[i], &byte, 1, 0) != 1)
			die("the first byte");
	}
	puts("connected");
	fflush(stdout);
	for (unsigned int i = 0; i < count; i++) {
		if (recv(fds[i], &byte, 1, 0) != 0)
			die("the end");
	}
	puts("closed");
	free(fds);
	return 0;
}

int main(int argc, char **argv)
{
	struct client *clients;
	unsigned int count;
	bool failed = false;

	alarm(240);
	make_random_bytes();
	if (argc == 4 && !strcmp(argv[1], "--idle"))
		return leave_open(argv[2], (unsigned int)atoi(argv[3]));
	if (argc != 3)
		return 2;
	count = (unsigned int)atoi(argv[2]);
	clients = calloc(count + 1, sizeof(*clients));
	for (unsigned int i = 0; i < count; i++)
		start(&clients[i], argv[1], i);
	run(clients, count);
	start(&clients[count], argv[1], HALF_CLOSE);
	run(&clients[count], 1);
	for (unsigned int i = 0; i <= count; i++) {
		const struct client *c = &clients[i];

		printf("%u %s %zu bytes: %s\n", i, names[c->kind], c->size,
		       c->wrong ? c->wrong : "right");
		failed |= c->wrong != NULL;
	}
	free(clients);
	return failed;
}
