// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * address.c - addresses of stream sockets, in textual form.
 */
#include "address.h"

#include <errno.h>
#include <error.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections that wait to be accepted. */
enum { BACKLOG = 512 };

static bool is_path(const char *text)
{
	return strchr(text, '/') != NULL;
}

static void parse_path(struct address *address, const char *path)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&address->socket;

	if (strlen(path) >= sizeof(un->sun_path))
		error(1, 0, "%s: the path of a socket has at most %zu bytes; use a shorter one",
		      path, sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	address->size = sizeof(*un);
}

/* Return the addresses of PORT or HOST:PORT, to be freed by freeaddrinfo(). */
static struct addrinfo *resolve(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char *host = strdup(text), *colon, *name = host;
	struct addrinfo *found;
	int err;

	if (!host)
		error(1, errno, "cannot begin");
	colon = strrchr(host, ':');
	if (colon) {
		*colon = '\0';
		if (*name == '[' && colon[-1] == ']') {
			name++;
			colon[-1] = '\0';
		}
	}
	err = getaddrinfo(colon ? name : "127.0.0.1", colon ? colon + 1 : host,
			  &hints, &found);
	if (err)
		error(1, 0, "%s: %s; write PORT, HOST:PORT, or a PATH with a slash",
		      text, gai_strerror(err));
	free(host);
	return found;
}

static void use_address(struct address *address, const struct addrinfo *info)
{
	memcpy(&address->socket, info->ai_addr, info->ai_addrlen);
	address->size = info->ai_addrlen;
}

void address_parse(struct address *address, const char *text)
{
	struct addrinfo *found;

	*address = (struct address){ .text = text };
	if (is_path(text)) {
		parse_path(address, text);
		return;
	}
	found = resolve(text);
	use_address(address, found);
	freeaddrinfo(found);
}

/* Return the descriptor of a connection, or -1 with errno. */
static int connect_to(const struct address *address)
{
	const int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0 || !connect(fd, (const struct sockaddr *)&address->socket, address->size))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

int address_connect(const char *text)
{
	struct addrinfo *found = NULL;
	struct address address;
	int fd;

	address_parse(&address, text);
	if (!is_path(text))
		found = resolve(text);
	fd = connect_to(&address);
	for (struct addrinfo *next = found ? found->ai_next : NULL; fd < 0 && next; next = next->ai_next) {
		use_address(&address, next);
		fd = connect_to(&address);
	}
	if (fd < 0)
		error(1, errno, "cannot connect to %s", text);
	if (found)
		freeaddrinfo(found);
	return fd;
}

static void print_address(const struct address *address, int listener)
{
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	char host[64], port[8];

	printf("listening on ");
	if (is_path(address->text)) {
		puts(address->text);
	} else {
		getsockname(listener, (struct sockaddr *)&bound, &size);
		getnameinfo((struct sockaddr *)&bound, size, host, sizeof(host),
			    port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
		printf(bound.ss_family == AF_INET6 ? "[%s]:%s\n" : "%s:%s\n",
		       host, port);
	}
	/* The program's parent may wait for this line. */
	fflush(stdout);
}

int address_listen(const struct address *address)
{
	int listener = socket(address->socket.ss_family,
			      SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	if (listener < 0)
		error(1, errno, "cannot make a socket");
	/* A server that is restarted need not wait for old connections. */
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (const struct sockaddr *)&address->socket,
		 address->size) < 0 || listen(listener, BACKLOG) < 0)
		error(1, errno, "cannot listen on %s%s", address->text,
		      errno != EADDRINUSE ? "" : is_path(address->text) ?
		      " (remove the file if no server uses it)" :
		      " (stop the other server, or use another port)");
	print_address(address, listener);
	return listener;
}

void address_close(const struct address *address, int listener)
{
	close(listener);
	if (is_path(address->text))
		unlink(address->text);
}
