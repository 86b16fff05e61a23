/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shares.h - shares: calls in them, and descriptors that are handed over.
 */
#ifndef SHARES_H
#define SHARES_H

#include <sys/epoll.h>

#include "../../table.h"
#include "calls.h"

static struct table share, second;
static int poller;

static long make_share(void)
{
	struct table made_now;
	long ret = make_table(dev, 8, &made_now);

	if (!ret)
		close(made_now.fd);
	return ret;
}

static void share_begins(void)
{
	recreate();
	share = must_make_table(dev, 8);
	second = must_make_table(dev, 8);
	poller = epoll_create1(EPOLL_CLOEXEC);
}

/* This also closes what has stayed in them after a failure. */
static void share_ends(long ret)
{
	(void)ret;
	close(poller);
	close(share.fd);
	close(second.fd);
}

static long call_in_share(void)
{
	long fd = call_in(share, SYS_openat, (__u64)AT_FDCWD, P(FILE_NAME), O_RDONLY, 0), ret;

	if (fd < 0)
		return fd;
	ret = call_in(share, SYS_fstat, (__u64)fd, P(&st));
	return ret ? ret : call_in(share, SYS_close, (__u64)fd);
}

static long pair_in_share(void)
{
	int fds[2];
	long ret = call_in(share, SYS_pipe2, P(fds), O_CLOEXEC);

	if (ret)
		return ret;
	for (int i = 0; i < 2 && !ret; i++)
		ret = call_in(share, SYS_close, (__u64)fds[i]);
	return ret;
}

/* An epoll of the process watches a descriptor of the share. */
static long watch_in_share(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	long fd = call_in(share, SYS_eventfd2, 0, 0), ret;

	if (fd < 0)
		return fd;
	ret = call_in(share, SYS_epoll_ctl, (__u64)poller, EPOLL_CTL_ADD, (__u64)fd, P(&event));
	return ret ? ret : call_in(share, SYS_close, (__u64)fd);
}

/* By the process's table, and by another share. */
static long hand_over(void)
{
	long fd = move_fd(share, dev, -1, COSY_SHARE_IN), ret;

	if (fd < 0)
		return fd;
	fd = move_fd(share, fd, second.fd, 0);
	if (fd < 0)
		return fd;
	fd = move_fd(second, fd, -1, COSY_SHARE_CLOEXEC);
	if (fd < 0)
		return fd;
	close((int)fd);
	ret = table_ioctl(share.fd, COSY_SHARE_COUNT, NULL);
	return ret ? ret : table_ioctl(second.fd, COSY_SHARE_COUNT, NULL);
}

static void try_shares(void)
{
	static const struct operation ops[] = {
		OPERATION("make a share", NULL, make_share, NULL, 0, .repeats = CHARGE_REPEATS),
		OPERATION("a call in a share", share_begins, call_in_share, share_ends, 0),
		OPERATION("a pair in a share", share_begins, pair_in_share, share_ends, 0),
		OPERATION("watch a descriptor of a share", share_begins, watch_in_share, share_ends, 0),
		OPERATION("hand a descriptor over", share_begins, hand_over, share_ends, 0),
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

#endif /* SHARES_H */
