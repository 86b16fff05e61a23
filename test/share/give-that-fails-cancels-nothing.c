/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Giving a descriptor to a share that is full, or to a process that has no room for it, fails. What waits for the
 * descriptor goes on. It is cancelled when the descriptor is given.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cosy/async.h>
#include <cosy/share.h>

#include "check.h"

static struct cosy_loop *loop;
static struct cosy_share *share, *full;

static int open_null(struct cosy_share *in)
{
	return cosy_share_open(in, AT_FDCWD, "/dev/null", O_RDONLY, 0);
}

static int64_t result_of(struct cosy_async *op)
{
	while (cosy_async_pending(op))
		EQUAL(cosy_wait(loop, 1, NULL), 1);
	return op->result;
}

/* Begin to receive a byte from a new descriptor of the share, and set @peer to the other end. */
static int begin(struct cosy_async *op, int *peer)
{
	static char byte;
	int fds[2], fd;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fd = cosy_share_dup(share, fds[0]);
	CHECK(fd >= 0);
	close(fds[0]);
	*peer = fds[1];
	EQUAL(cosy_async_recv(loop, op, fd, &byte, 1, 0), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	return fd;
}

/* @install: into the process; otherwise to the other share. */
static int give(int fd, bool install)
{
	return install ? cosy_share_install(share, fd, O_CLOEXEC) : cosy_share_give(share, fd, full);
}

static void check_give(bool install)
{
	struct cosy_async op = { 0 };
	struct rlimit limit, none;
	int peer, fd = begin(&op, &peer), last = install ? -1 : open_null(full);

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ install ? 3 : limit.rlim_cur, limit.rlim_max };
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(give(fd, install), -EMFILE);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	EQUAL(send(peer, "x", 1, 0), 1);
	EQUAL(result_of(&op), 1);
	close(peer);
	EQUAL(cosy_share_close(share, fd), 0);
	if (!install)
		EQUAL(cosy_share_close(full, last), 0);
	fd = begin(&op, &peer);
	CHECK(give(fd, install) >= 0);
	EQUAL(result_of(&op), -ECANCELED);
	EQUAL(cosy_share_close(share, fd), -EBADF);
	close(peer);
}

int main(void)
{
	const struct cosy_share_options one = { sizeof(one), 1 };

	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_share_create(&share, NULL), 0);
	EQUAL(cosy_share_create(&full, &one), 0);
	check_give(false);
	check_give(true);
	EQUAL(cosy_loop_destroy(loop), 0);
	cosy_share_destroy(share);
	cosy_share_destroy(full);
	return 0;
}
