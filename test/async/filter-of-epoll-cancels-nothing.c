/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread makes a dup2() that fails, onto a socket for which a receive has begun to wait. The receive goes on, also if
 * a seccomp filter does not let the loop ask epoll whether it still has the socket.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
#include <sys/file.h>

#include "descriptors.h"
#include "filter-call.h"

int main(void)
{
	const struct cosy_loop_options options = { .size = sizeof(options), .waiters = 1 };
	const struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	struct cosy_async locks = { 0 }, closes = { 0 }, receives = { 0 };
	int held = open("/tmp/async-filter", O_RDWR | O_CREAT, 0600), second = open("/tmp/async-filter", O_RDWR);
	int null = open("/dev/null", O_RDONLY);
	char byte = 0;
	int fds[2];

	EQUAL(cosy_loop_create(&loop, &options), 0);
	tcp_pair(fds);
	/* So a thread makes the call. The only one waits. */
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	EQUAL(flock(held, LOCK_EX), 0);
	EQUAL(cosy_async_flock(loop, &locks, second, LOCK_EX), 0);
	EQUAL(cosy_async_dup2(loop, &closes, null, fds[0]), 0);
	EQUAL(cosy_async_recv(loop, &receives, fds[0], &byte, 1, 0), 0);
	execute(loop);
	close(null);
	filter_call_with(SYS_epoll_ctl, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC);
	EQUAL(flock(held, LOCK_UN), 0);
	EQUAL(result_of(loop, &closes), -EBADF);
	EQUAL(send(fds[1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &receives), 1);
	EQUAL(byte, 'x');
	EQUAL(result_of(loop, &locks), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	unlink("/tmp/async-filter");
	return 0;
}
