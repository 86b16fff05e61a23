// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proxy-ends.c - clients of examples/proxy, and the server behind it.
 *
 *	proxy-ends transfer|slow PROXY SERVER
 *	proxy-ends idle PROXY SERVER SECONDS
 *	proxy-ends refused PROXY
 *
 * PROXY and SERVER are paths of unix sockets. With "transfer", "slow" and "idle" this program is
 * also the server SERVER.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 12
#define SLOW_BYTES 20000000

static const char *proxy, *path;
static int listener;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int unix_socket(const char *name, struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strncpy(address->sun_path, name, sizeof(address->sun_path) - 1);
	if (fd < 0)
		fail("socket");
	return fd;
}

static int connect_to_proxy(void)
{
	struct sockaddr_un address;
	int fd = unix_socket(proxy, &address);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("connect");
	return fd;
}

static void make_listener(void)
{
	struct sockaddr_un address;

	listener = unix_socket(path, &address);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, CLIENTS))
		fail("listen");
}

static int accept_one(void)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		fail("accept");
	return fd;
}

/* Bytes that depend on @seed and their position. */
static void fill(unsigned char *buffer, size_t size, uint32_t seed)
{
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525 + 1013904223;
		buffer[i] = (unsigned char)(seed >> 24);
	}
}

static size_t size_of(uint32_t seed)
{
	return seed % 3 ? seed * 7919 % 5000 : seed * 104729 % 400000;
}

static void send_all(int fd, uint32_t seed)
{
	size_t size = size_of(seed), done = 0;
	unsigned char *buffer = malloc(size + 1);

	fill(buffer, size, seed);
	while (done < size) {
		ssize_t n = send(fd, buffer + done, size - done, MSG_NOSIGNAL);

		if (n < 0)
			fail("send");
		done += (size_t)n;
	}
	free(buffer);
	if (shutdown(fd, SHUT_WR))
		fail("shutdown");
}

/* Receive up to the end; it must be the data of send_all(). */
static void receive_all(int fd, uint32_t seed)
{
	size_t size = size_of(seed), done = 0;
	unsigned char *wanted = malloc(size + 1), *buffer = malloc(size + 1);
	ssize_t n;

	fill(wanted, size, seed);
	while ((n = recv(fd, buffer + done, size + 1 - done, 0)) > 0 && done + (size_t)n <= size)
		done += (size_t)n;
	if (n < 0)
		fail("recv");
	if (done != size || n != 0 || memcmp(buffer, wanted, size)) {
		fprintf(stderr, "%zu bytes came, not the %zu that were sent\n", done, size);
		exit(1);
	}
	free(wanted);
	free(buffer);
}

/* The first four bytes of a connection identify the client. */
static void *serve_one(void *data)
{
	int fd = (int)(intptr_t)data;
	uint32_t number;

	if (recv(fd, &number, sizeof(number), MSG_WAITALL) != sizeof(number))
		fail("the client's number");
	if (number & 1)
		send_all(fd, number + 1000);
	receive_all(fd, number);
	/* The client waits for the rest after it has shut down sending. */
	if (!(number & 1))
		send_all(fd, number + 1000);
	close(fd);
	return NULL;
}

static void *serve_all(void *data)
{
	pthread_t threads[CLIENTS];

	(void)data;
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&threads[i], NULL, serve_one, (void *)(intptr_t)accept_one());
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static void *be_client(void *data)
{
	uint32_t number = (uint32_t)(uintptr_t)data;
	int fd = connect_to_proxy();

	if (send(fd, &number, sizeof(number), MSG_NOSIGNAL) != sizeof(number))
		fail("send");
	send_all(fd, number);
	receive_all(fd, number + 1000);
	close(fd);
	return NULL;
}

static void transfer(void)
{
	pthread_t server, clients[CLIENTS];

	pthread_create(&server, NULL, serve_all, NULL);
	for (uintptr_t i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, be_client, (void *)i);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	pthread_join(server, NULL);
	printf("%d connections were carried over\n", CLIENTS);
}

/* The server can send only as much as the buffers hold until the client receives. */
static void slow(void)
{
	static unsigned char buffer[65536];
	int client = connect_to_proxy(), server = accept_one();
	struct pollfd room = { .fd = server, .events = POLLOUT };
	size_t sent = 0, received = 0;
	ssize_t n;

	while (sent < SLOW_BYTES && poll(&room, 1, 300) > 0) {
		n = send(server, buffer, sizeof(buffer), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			fail("send");
		sent += n > 0 ? (size_t)n : 0;
	}
	if (sent >= SLOW_BYTES) {
		fprintf(stderr, "the proxy took all, though the client took nothing\n");
		exit(1);
	}
	shutdown(server, SHUT_WR);
	while ((n = recv(client, buffer, sizeof(buffer), 0)) > 0)
		received += (size_t)n;
	if (n < 0 || received != sent) {
		fprintf(stderr, "%zu bytes came, not %zu\n", received, sent);
		exit(1);
	}
	puts("the proxy waited for the client");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The delay depends on the machine, but the end must never be early. */
static void idle(double seconds)
{
	int client = connect_to_proxy(), server = accept_one();
	double last;
	char byte = 'x';

	usleep((unsigned int)(seconds * 500000));
	last = now();
	if (send(client, &byte, 1, MSG_NOSIGNAL) != 1 || recv(server, &byte, 1, 0) != 1)
		last -= seconds;
	if (recv(client, &byte, 1, 0) > 0 || recv(server, &byte, 1, 0) > 0) {
		fprintf(stderr, "something came\n");
		exit(1);
	}
	if (now() - last < seconds) {
		fprintf(stderr, "broken off after %.3f s\n", now() - last);
		exit(1);
	}
	puts("both were broken off, not too early");
}

static void refused(void)
{
	int client = connect_to_proxy();
	char byte;

	if (recv(client, &byte, 1, 0) > 0) {
		fprintf(stderr, "something came\n");
		exit(1);
	}
	puts("the client was broken off");
}

int main(int argc, char **argv)
{
	alarm(240);
	if (argc < 3)
		return 2;
	proxy = argv[2];
	if (!strcmp(argv[1], "refused")) {
		refused();
		return 0;
	}
	if (argc < 4)
		return 2;
	path = argv[3];
	make_listener();
	if (!strcmp(argv[1], "transfer"))
		transfer();
	else if (!strcmp(argv[1], "slow"))
		slow();
	else if (!strcmp(argv[1], "idle") && argc == 5)
		idle(atof(argv[4]));
	else
		return 2;
	unlink(path);
	return 0;
}
