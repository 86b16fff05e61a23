// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * by-epoll.c - the server by calls that do not block, and epoll.
 *
 * A call is made when epoll reports that it can do something. Data that it has not
 * transferred stays in the connection, and epoll gets the event that the connection waits
 * for.
 */
#include "../common/acceptor.h"
#include "server.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64 };

struct connection {
	LIST_ENTRY(connection) link;
	int fd;
	uint32_t waits_for;		/* EPOLLIN or EPOLLOUT */
	size_t received, sent;		/* bytes of the buffer */
	char buffer[BUFFER];
};

static LIST_HEAD(, connection) connections;
static struct server *server;
static int epoll;

/*
 * The possible values of @data of an event: a connection, or the address of one of these.
 */
static char accepts, signals;

static void wait_for(int operation, int fd, uint32_t events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	if (epoll_ctl(epoll, operation, fd, &event) < 0)
		error(1, errno, "epoll_ctl");
}

static void close_connection(struct connection *c)
{
	LIST_REMOVE(c, link);
	/* This also removes it from epoll. */
	close(c->fd);
	free(c);
}

/* Makes one recv(2), or sends the rest of its data. Then other connections are served. */
static void serve(struct connection *c)
{
	uint32_t waits_for = EPOLLIN;
	ssize_t n;

	if (c->sent == c->received) {
		n = recv(c->fd, c->buffer, BUFFER, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_connection(c);
			return;
		}
		c->received = n;
		c->sent = 0;
	}
	n = send(c->fd, c->buffer + c->sent, c->received - c->sent,
		 MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN) {
		close_connection(c);
		return;
	}
	if (n > 0) {
		c->sent += n;
		server->bytes += n;
	}
	if (c->sent < c->received)
		waits_for = EPOLLOUT;
	if (c->waits_for != waits_for)
		wait_for(EPOLL_CTL_MOD, c->fd, waits_for, c);
	c->waits_for = waits_for;
}

/* Return: 0, or -errno of accept(2). */
static int accept_one(void)
{
	int fd = accept4(server->listener, NULL, NULL,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct connection *c;

	if (fd < 0)
		return -errno;
	server->connections++;
	c = malloc(sizeof(*c));
	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	c->fd = fd;
	c->waits_for = EPOLLIN;
	c->received = c->sent = 0;
	LIST_INSERT_HEAD(&connections, c, link);
	wait_for(EPOLL_CTL_ADD, fd, EPOLLIN, c);
	return 0;
}

/* Return: false if there is no descriptor for the next one. */
static bool accept_some(void)
{
	int err = 0;

	for (int i = 0; i < ACCEPTOR_OPERATIONS && err != -EAGAIN; i++) {
		err = accept_one();
		if (acceptor_can_retry(-err))
			return false;
		/* Other errors belong to a connection that no longer exists. */
		if (err == -EBADF || err == -EINVAL)
			error(1, -err, "cannot accept");
	}
	return true;
}

/* Return: false after a signal. */
static bool serve_event(const struct epoll_event *event, bool *can_accept)
{
	if (event->data.ptr == &signals)
		return false;
	if (event->data.ptr == &accepts)
		*can_accept = accept_some();
	else
		serve(event->data.ptr);
	return true;
}

static void serve_until_signal(void)
{
	struct epoll_event events[EVENTS];
	bool can_accept = true;

	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS,
				   can_accept ? -1 : ACCEPTOR_PAUSE);

		/* EINTR: the process was stopped and continued. */
		if (n < 0 && errno != EINTR)
			error(1, errno, "epoll_wait");
		if (!can_accept)
			wait_for(EPOLL_CTL_MOD, server->listener, EPOLLIN,
				 &accepts);
		can_accept = true;
		for (int i = 0; i < n; i++)
			if (!serve_event(&events[i], &can_accept))
				return;
		/* Otherwise epoll would report the listener again at once. */
		if (!can_accept)
			wait_for(EPOLL_CTL_MOD, server->listener, 0, &accepts);
	}
}

void serve_by_epoll(struct server *given)
{
	int signal_fd = signalfd(-1, &given->signals, SFD_CLOEXEC);

	server = given;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (signal_fd < 0 || epoll < 0 ||
	    fcntl(server->listener, F_SETFL, O_NONBLOCK) < 0)
		error(1, errno, "cannot begin");
	wait_for(EPOLL_CTL_ADD, signal_fd, EPOLLIN, &signals);
	wait_for(EPOLL_CTL_ADD, server->listener, EPOLLIN, &accepts);
	serve_until_signal();
	while (!LIST_EMPTY(&connections))
		close_connection(LIST_FIRST(&connections));
	close(epoll);
	close(signal_fd);
}
