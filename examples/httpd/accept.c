// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * accept.c - accept connections, as long as there is room for them.
 *
 * A connection beyond the limit is held. Its operation accepts the next one only after it was started,
 * so others stay in the backlog.
 */
#include "accept.h"

#include <errno.h>
#include <error.h>
#include <sys/socket.h>

#include "../common/acceptor.h"
#include "config.h"
#include "connection.h"
#include "worker.h"

struct accepting {
	struct cosy_async op;
	int listener, held;
	socklen_t size;
	struct sockaddr_storage address;
};

static struct accepting all[CONFIG_LISTEN_MAX * ACCEPT_OPERATIONS];
static unsigned int number, holding, next_held, outstanding;

static void accepted(struct cosy_async *op);

static void accept_next(struct cosy_async *op)
{
	struct accepting *a = op->data;

	if (worker.draining)
		return;
	op->done = accepted;
	a->size = sizeof(a->address);
	if (!cosy_async_accept4(worker.loop, op, a->listener, (struct sockaddr *)&a->address,
				&a->size, SOCK_CLOEXEC | SOCK_NONBLOCK))
		outstanding++;
}

static void accepted(struct cosy_async *op)
{
	static const struct timespec pause = { .tv_nsec = ACCEPTOR_PAUSE * 1000000L };
	struct accepting *a = op->data;

	outstanding--;
	if (op->result >= 0) {
		if (!worker_connected() && !worker.draining) {
			a->held = (int)op->result;
			holding++;
			return;
		}
		connection_start((int)op->result, &a->address);
	} else if (op->result == -ECANCELED) {
		worker_end_if_idle();
		return;
	} else if (acceptor_can_retry((int)-op->result)) {
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

void accept_start(const int *listeners, unsigned int count)
{
	number = count * ACCEPT_OPERATIONS;
	for (unsigned int i = 0; i < number; i++) {
		all[i].op.data = &all[i];
		all[i].listener = listeners[i % count];
		all[i].held = -1;
		accept_next(&all[i].op);
	}
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
