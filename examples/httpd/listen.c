// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * listen.c - the sockets that listen.
 */
#include "listen.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/address.h"
#include "config.h"

#define FIRST 3 /* The number of the first socket that is handed on. */

static void print_address(int socket)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	const struct sockaddr_un *un = (const struct sockaddr_un *)&address;
	socklen_t size = sizeof(address);
	char host[64], port[8];

	if (getsockname(socket, (struct sockaddr *)&address, &size))
		error(1, errno, "descriptor %d is no socket", socket);
	if (address.ss_family == AF_UNIX)
		printf("listening on %s\n", un->sun_path);
	else if (!getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
			      sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		printf(address.ss_family == AF_INET6 ? "listening on [%s]:%s\n" :
						       "listening on %s:%s\n", host, port);
}

static int open_one(const char *text)
{
	const int on = 1;
	struct address address;
	int fd;

	address_parse(&address, text);
	fd = socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		error(1, errno, "cannot make a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* IPv4 has a socket of its own, so both may have the same port. */
	if (address.socket.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	/* Connections inherit it: an answer does not wait until the one before has been received. */
	if (address.socket.ss_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address.socket, address.size))
		error(1, errno, "cannot listen on %s%s", text,
		      errno == EADDRINUSE && address.socket.ss_family == AF_UNIX ?
		      " (remove the file if no server uses it)" : "");
	/* A proxy of another user connects, too. Whom the directory of the path keeps out cannot. */
	if (address.socket.ss_family == AF_UNIX && chmod(text, 0666))
		error(1, errno, "cannot let others connect to %s", text);
	if (listen(fd, SOMAXCONN))
		error(1, errno, "cannot listen on %s", text);
	return fd;
}

/* Return the number of sockets that were handed on, 0 if there are none. */
static unsigned int inherited(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	unsigned long sockets;

	if (!pid || !count || strtol(pid, NULL, 10) != getpid())
		return 0;
	sockets = strtoul(count, NULL, 10);
	if (sockets > CONFIG_LISTEN_MAX)
		error(1, 0, "LISTEN_FDS=%s: at most %d sockets can be used", count,
		      CONFIG_LISTEN_MAX);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return (unsigned int)sockets;
}

unsigned int listen_open(int *sockets)
{
	unsigned int count = inherited();

	for (unsigned int i = 0; i < count; i++) {
		sockets[i] = FIRST + (int)i;
		fcntl(sockets[i], F_SETFD, FD_CLOEXEC);
		fcntl(sockets[i], F_SETFL, O_NONBLOCK);
	}
	for (; count < config.listens; count++)
		sockets[count] = open_one(config.listen[count]);
	return count;
}

void listen_print(const int *sockets, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		print_address(sockets[i]);
	/* The program's parent may wait for these lines. */
	fflush(stdout);
}

void listen_hand_on(const int *sockets, unsigned int count)
{
	int copies[CONFIG_LISTEN_MAX];
	char text[16];

	/* First away from the numbers that they are to have, which others of them may have. */
	for (unsigned int i = 0; i < count; i++)
		copies[i] = fcntl(sockets[i], F_DUPFD_CLOEXEC, FIRST + CONFIG_LISTEN_MAX);
	for (unsigned int i = 0; i < count; i++)
		if (copies[i] < 0 || dup2(copies[i], FIRST + (int)i) < 0)
			error(1, errno, "cannot hand the sockets on");
	snprintf(text, sizeof(text), "%u", count);
	setenv("LISTEN_FDS", text, 1);
	snprintf(text, sizeof(text), "%d", getpid());
	setenv("LISTEN_PID", text, 1);
}

void listen_remove(void)
{
	for (unsigned int i = 0; i < config.listens; i++)
		if (strchr(config.listen[i], '/'))
			unlink(config.listen[i]);
}
