// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * accept.c - accept connections, as long as there is room for them.
 *
 * A connection beyond the limit is held. Its operation accepts the next one only after it was started,
 * so others stay in the backlog.
 *
 * If more connections wait in a backlog than are accepted in a second, the server is overloaded. Then the
 * backlog has room only for those of a quarter of a second: the kernel drops what comes beyond, at no cost for the
 * server. With the kernel's maximum of 4,096, clients would have left before it is their turn, and all
 * work would be in vain. A client whose connection was dropped tries again each second, so that
 * one that gives up after some seconds would also do so while it waits for a whole one.
 */
#include "accept.h"

#include <errno.h>
#include <error.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/acceptor.h"
#include "config.h"
#include "connection.h"
#include "worker.h"

#define BACKLOG_MIN  16
#define LEFT_SECONDS 120
#define CALM_SECONDS 10 /* Without a limit, the backlog fills in a moment if the clients still come. */

struct accepting {
	struct cosy_async op;
	int listener, held;
	socklen_t size;
	struct sockaddr_storage address;
};

static struct accepting all[CONFIG_LISTEN_MAX * ACCEPT_OPERATIONS];
static unsigned int number, holding, next_held, outstanding;

/* Connections since accept_shed() was called, and whether it has limited a backlog. */
static unsigned int count;
static bool overloaded;
static uint32_t last_overloaded;

static void accepted(struct cosy_async *op);

static void accept_next(struct cosy_async *op)
{
	struct accepting *a = op->data;
	int err;

	if (worker.draining) {
		/* The last accept may have failed, or its client may have left. */
		worker_end_if_idle();
		return;
	}
	op->done = accepted;
	a->size = sizeof(a->address);
	err = cosy_async_accept4(worker.loop, op, a->listener, (struct sockaddr *)&a->address,
				 &a->size, SOCK_CLOEXEC | SOCK_NONBLOCK);
	/* The loop has an entry for each accept. */
	if (err)
		error(1, -err, "cannot accept connections");
	outstanding++;
}

/*
 * Return true if a client that may have had to wait too long has ended its direction. It might still read the
 * answer, but mostly does not wait. Its kernel may have a connection that this one has dropped, and sends
 * the request and the end for a minute or two after the client has left.
 */
static bool has_left(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return last_overloaded && worker.now - last_overloaded < LEFT_SECONDS && poll(&poll_fd, 1, 0) > 0;
}

static void accepted(struct cosy_async *op)
{
	static const struct timespec pause = { .tv_nsec = ACCEPTOR_PAUSE * 1000000L };
	struct accepting *a = op->data;

	outstanding--;
	if (op->result >= 0 && has_left((int)op->result)) {
		close((int)op->result);
	} else if (op->result >= 0) {
		count++;
		if (!worker_connected() && !worker.draining) {
			a->held = (int)op->result;
			holding++;
			return;
		}
		connection_start((int)op->result, &a->address);
	} else if (op->result == -ECANCELED) {
		worker_end_if_idle();
		return;
	} else if (op->result == -EAGAIN || acceptor_can_retry((int)-op->result)) {
		/* Without a pause the server would do nothing else until a connection is closed. */
		op->done = accept_next;
		cosy_async_timer(worker.loop, op, &pause, 0);
		return;
	} else if (op->result == -EBADF || op->result == -EINVAL || op->result == -ENOTSOCK) {
		error(1, (int)-op->result, "cannot accept connections");
	}
	/* Other errors belong to a connection that no longer exists. */
	accept_next(op);
}

static void start_held(struct accepting *a)
{
	const int fd = a->held;

	a->held = -1;
	holding--;
	connection_start(fd, &a->address);
	accept_next(&a->op);
}

void accept_continue(void)
{
	if (!holding || worker.draining)
		return;
	/* In turn, so that no socket is preferred. */
	while (all[next_held % number].held < 0)
		next_held++;
	if (worker_connected())
		start_held(&all[next_held++ % number]);
}

/* Return the number of connections in a backlog; 0 also if it is none of TCP. */
static unsigned int waiting(int listener)
{
	struct tcp_info info = { .tcpi_unacked = 0 };
	socklen_t size = sizeof(info);

	return getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &size) ? 0 : info.tcpi_unacked;
}

void accept_shed(unsigned int seconds)
{
	const unsigned int served = count / (seconds ? seconds : 1) * config.workers;
	const unsigned int room = served / 4 < BACKLOG_MIN ? BACKLOG_MIN : served / 4;
	unsigned int most = 0;

	count = 0;
	/* If connections have reached their limit, the others are to wait. */
	if (worker.draining || holding)
		return;
	for (unsigned int i = 0; i < number / ACCEPT_OPERATIONS; i++)
		most = most > waiting(all[i].listener) ? most : waiting(all[i].listener);
	if (most > (overloaded ? room / 2 : served) && most > BACKLOG_MIN / 2) {
		overloaded = true;
		last_overloaded = worker.now;
	} else if (!overloaded) {
		return;
	} else if (!worker.connections || worker.now - last_overloaded > CALM_SECONDS) {
		overloaded = false;
	}
	for (unsigned int i = 0; i < number / ACCEPT_OPERATIONS; i++)
		listen(all[i].listener, overloaded ? (int)room : SOMAXCONN);
}

void accept_start(const int *listeners, unsigned int sockets)
{
	number = sockets * ACCEPT_OPERATIONS;
	for (unsigned int i = 0; i < number; i++) {
		all[i].op.data = &all[i];
		all[i].listener = listeners[i % sockets];
		all[i].held = -1;
		accept_next(&all[i].op);
	}
	/* Workers before this one may have been overloaded. */
	for (unsigned int i = 0; i < sockets; i++)
		listen(listeners[i], SOMAXCONN);
}

bool accept_pending(void)
{
	return outstanding;
}

void accept_stop(void)
{
	for (unsigned int i = 0; i < number; i++) {
		if (all[i].held < 0) {
			cosy_cancel(worker.loop, &all[i].op);
			continue;
		}
		worker_connected();
		start_held(&all[i]);
	}
}
