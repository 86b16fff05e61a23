// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * load.c - clients of a web server, each with a connection and a request of its own.
 *
 *	load PORT SECONDS CLIENTS RATE
 *
 * With RATE 0, there are always CLIENTS clients: what is answered in a second is the server's capacity.
 * Otherwise RATE clients come in a second, whatever becomes of those before, and CLIENTS limits how many
 * there may be. A client gives up after 5 seconds.
 *
 * Prints the number of clients that came, and of those that were answered, were refused (reset), and gave up; the
 * rest had not ended after SECONDS. An answer other than the expected one is an error.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 5.0 /* Seconds until a client gives up. */
#define NONE	 UINT32_MAX

static const char request[] = "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/* A client; those that wait are in a queue, in the order in which they came. */
struct client {
	int fd;
	bool sent;
	char status[13];
	uint32_t have, next, previous;
	double since;
};

static struct client *clients;
static uint32_t unused = NONE, oldest = NONE, newest = NONE;
static struct sockaddr_in address = { .sin_family = AF_INET };
static unsigned long came, answered, refused, gave_up;
static int epoll;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void remove_client(uint32_t number)
{
	struct client *c = &clients[number];

	*(c->previous == NONE ? &oldest : &clients[c->previous].next) = c->next;
	*(c->next == NONE ? &newest : &clients[c->next].previous) = c->previous;
	close(c->fd);
	c->next = unused;
	unused = number;
}

static void add_client(void)
{
	struct epoll_event event = { .events = EPOLLOUT, .data.u32 = unused };
	struct client *c = &clients[unused];
	const uint32_t number = unused;

	unused = c->next;
	*c = (struct client){ .next = NONE, .previous = newest, .since = now() };
	*(newest == NONE ? &oldest : &clients[newest].next) = number;
	newest = number;
	came++;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || (connect(c->fd, (struct sockaddr *)&address, sizeof(address)) && errno != EINPROGRESS) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
		err(1, "a client cannot connect");
}

static void send_request(struct client *c, uint32_t number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = number };

	c->sent = true;
	if (send(c->fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event)) {
		refused++;
		remove_client(number);
	}
}

static void receive(struct client *c, uint32_t number)
{
	char bytes[4096];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);

	for (ssize_t i = 0; i < n && c->have < sizeof(c->status) - 1; i++)
		c->status[c->have++] = bytes[i];
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	if (n == 0 && strcmp(c->status, "HTTP/1.1 200"))
		errx(1, "an answer that is wrong: '%s'", c->status);
	*(n ? &refused : &answered) += 1;
	remove_client(number);
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	struct rlimit limit;
	unsigned long room, rate;
	double start, end, time;
	int n;

	if (argc != 5)
		errx(1, "usage: load PORT SECONDS CLIENTS RATE");
	address.sin_port = htons((in_port_t)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	room = strtoul(argv[3], NULL, 10);
	rate = strtoul(argv[4], NULL, 10);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	clients = calloc(room, sizeof(*clients));
	epoll = epoll_create1(0);
	if (!clients || epoll < 0)
		err(1, "cannot begin");
	for (uint32_t i = 0; i < room; i++) {
		clients[i].next = unused;
		unused = i;
	}
	start = now();
	end = start + strtod(argv[2], NULL);
	while ((time = now()) < end) {
		while (oldest != NONE && time - clients[oldest].since > PATIENCE) {
			gave_up++;
			remove_client(oldest);
		}
		while (unused != NONE && (!rate || (double)came < (time - start) * (double)rate))
			add_client();
		n = epoll_wait(epoll, events, 64, rate ? 1 : 100);
		for (int i = 0; i < n; i++) {
			struct client *c = &clients[events[i].data.u32];

			if (c->sent)
				receive(c, events[i].data.u32);
			else
				send_request(c, events[i].data.u32);
		}
	}
	printf("%lu %lu %lu %lu\n", came, answered, refused, gave_up);
	return 0;
}
