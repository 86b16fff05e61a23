// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * acceptor.c - accept connections by operations.
 */
#include "acceptor.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <sys/socket.h>

bool acceptor_can_retry(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return true;
	default:
		return false;
	}
}

static void accepted(struct cosy_async *op);

static void accept_next(struct cosy_async *op)
{
	struct acceptor *acceptor = op->data;

	op->done = accepted;
	cosy_async_accept4(acceptor->loop, op, acceptor->listener, NULL, NULL,
			   SOCK_CLOEXEC);
}

static void accepted(struct cosy_async *op)
{
	/* The time is read when the timer is started, which is later. */
	static const struct timespec pause = { .tv_nsec = ACCEPTOR_PAUSE * 1000000L };
	struct acceptor *acceptor = op->data;
	const int fd = (int)op->result;

	if (op->result == -ECANCELED)
		return;
	/* -EAGAIN: the call needs a thread, and none can be started. */
	if (op->result == -EAGAIN || acceptor_can_retry((int)-op->result)) {
		op->done = accept_next;
		cosy_async_timer(acceptor->loop, op, &pause, 0);
		return;
	}
	if (op->result == -EBADF || op->result == -EINVAL)
		error(1, (int)-op->result, "cannot accept");
	/*
	 * Other errors belong to a connection that no longer exists. The operation is submitted again while it
	 * has an entry: if the connection took the last one, nothing would be accepted any more.
	 */
	accept_next(op);
	if (fd >= 0)
		acceptor->accepted(fd);
}

void acceptor_start(struct acceptor *acceptor)
{
	const int flags = fcntl(acceptor->listener, F_GETFL);

	/* Otherwise each accept needs a thread: another process might take the connection before the call. */
	if (flags < 0 || fcntl(acceptor->listener, F_SETFL, flags | O_NONBLOCK))
		error(1, errno, "cannot accept");
	for (int i = 0; i < ACCEPTOR_OPERATIONS; i++) {
		acceptor->ops[i].data = acceptor;
		accept_next(&acceptor->ops[i]);
	}
}
