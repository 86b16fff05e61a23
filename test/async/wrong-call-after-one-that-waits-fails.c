/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A call whose arguments the kernel cannot read fails with its error when the earlier call on its descriptor
 * has ended: after a call that a thread has made, and after one whose connection has ended.
 */
// RUN: %compile
// RUN: %everywhere
#include "descriptors.h"

#define WRONG	((struct msghdr *)16)

static char data[8];
static struct iovec piece = { data, 4 };
static struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

/* The peer stays open: there is no event that would end the second call. */
static void after_a_thread(void)
{
	struct cosy_async first = { 0 }, second = { 0 };
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message, MSG_WAITALL), 0);
	EQUAL(cosy_async_recvmsg(loop, &second, fds[0], WRONG, 0), 0);
	execute(loop);
	EQUAL(write(fds[1], "abcd", 4), 4);
	EQUAL(result_of(loop, &first), 4);
	EQUAL(result_of(loop, &second), -EFAULT);
	end(fds[0]);
	end(fds[1]);
}

/* Both sides end while the first call has received a part, and the second has not been attempted. */
static void after_the_connection(void)
{
	struct cosy_async first = { 0 }, second = { 0 };
	int fds[2];

	tcp_pair(fds);
	EQUAL(cosy_async_recv(loop, &first, fds[0], data, 8, MSG_WAITALL), 0);
	EQUAL(cosy_async_recvmsg(loop, &second, fds[0], WRONG, 0), 0);
	execute(loop);
	EQUAL(write(fds[1], "abcd", 4), 4);
	execute(loop);
	EQUAL(shutdown(fds[0], SHUT_WR), 0);
	EQUAL(close(fds[1]), 0);
	EQUAL(result_of(loop, &first), 4);
	EQUAL(result_of(loop, &second), -EFAULT);
	end(fds[0]);
}

int main(void)
{
	loop = make_loop();
	after_a_thread();
	after_the_connection();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
