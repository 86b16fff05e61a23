/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A receive that waits ends with 0 when its socket is shut down, also if the process has no free descriptor.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/resource.h>

#include "descriptors.h"

static void shut_down(void (*open_both)(int fds[2]), int end_of, int how, bool nonblock)
{
	struct cosy_async op = { 0 };
	struct rlimit limit, none;
	int fds[2];
	char byte;

	open_both(fds);
	set_nonblock(fds[0], nonblock);
	EQUAL(cosy_async_recv(loop, &op, fds[0], &byte, 1, 0), 0);
	execute(loop);
	CHECK(cosy_async_pending(&op));
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)dup(0);
	close((int)none.rlim_cur);
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(dup(0), -1);
	EQUAL(shutdown(fds[end_of], how), 0);
	completes(&op, 0);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	end(fds[0]);
	end(fds[1]);
}

static void stream_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void datagram_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		shut_down(stream_pair, 1, SHUT_WR, nonblock);
		shut_down(stream_pair, 0, SHUT_RD, nonblock);
		shut_down(tcp_pair, 1, SHUT_WR, nonblock);
		shut_down(tcp_pair, 0, SHUT_RD, nonblock);
		shut_down(datagram_pair, 0, SHUT_RD, nonblock);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
