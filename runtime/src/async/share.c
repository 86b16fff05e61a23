/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.c - calls on descriptors that may be of a share.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

#include "calls.h"
#include "share.h"

const struct cosy_share_calls *cosy_share_calls;

/* Return how to make calls in shares, or NULL: there are none, and the descriptor is not open. */
static const struct cosy_share_calls *in_shares(void)
{
	return __atomic_load_n(&cosy_share_calls, __ATOMIC_ACQUIRE);
}

bool cosy_names_share(long nr, const uint64_t args[6])
{
	/* A pointer may have the same lower half. */
	return args[0] - COSY_OF_SHARE < COSY_OF_SHARE && cosy_takes_fd(nr);
}

long cosy_call_anywhere(long nr, const uint64_t args[6])
{
	if (!cosy_names_share(nr, args))
		return cosy_sys_args(nr, args);
	return in_shares() ? in_shares()->call(nr, args) : -EBADF;
}

long cosy_share_fd_call(long nr, int fd, long b, long c, long d, long e, long f)
{
	const uint64_t args[6] = { (uint64_t)fd, (uint64_t)b, (uint64_t)c,
				   (uint64_t)d,	 (uint64_t)e, (uint64_t)f };

	return in_shares() ? in_shares()->call(nr, args) : -EBADF;
}

long cosy_fd_lend(int fd, long (*use)(int copy, void *arg), void *arg)
{
	if (!cosy_is_of_share(fd))
		return use(fd, arg);
	return in_shares() ? in_shares()->lend(fd, use, arg) : -EBADF;
}

/** struct question - a call of cosy_fd_ask() */
struct question {
	long nr;
	long b;
	long c;
};

static long ask_with(int copy, void *arg)
{
	const struct question *question = arg;

	return cosy_sys(question->nr, copy, question->b, question->c);
}

long cosy_fd_ask(long nr, int fd, long b, long c)
{
	struct question question = { nr, b, c };

	return cosy_fd_lend(fd, ask_with, &question);
}

static long poll_with(int copy, void *arg)
{
	struct pollfd *poll = arg, asked = { .fd = copy, .events = poll->events };
	const long ready = cosy_sys(SYS_poll, (long)&asked, 1, 0);

	poll->revents = asked.revents;
	return ready;
}

long cosy_fd_poll(struct pollfd *poll)
{
	return cosy_fd_lend(poll->fd, poll_with, poll);
}

long cosy_fd_control(int epoll, int op, int fd, struct epoll_event *event)
{
	const uint64_t args[6] = { (uint64_t)epoll, (uint64_t)op, (uint64_t)fd, (uintptr_t)event };

	/* A call in the share of the descriptor takes an epoll descriptor of the process. */
	return cosy_is_of_share(fd) ? cosy_call_in_share(cosy_share_of((uint32_t)fd), SYS_epoll_ctl, args) :
				      cosy_sys_args(SYS_epoll_ctl, args);
}

long cosy_call_in_share(uint32_t share, long nr, const uint64_t args[6])
{
	return in_shares() ? in_shares()->call_in(share, nr, args) : -EBADF;
}
