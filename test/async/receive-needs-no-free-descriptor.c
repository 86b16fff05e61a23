/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A receive that waits ends with 0 when its socket is shut down, also if the process has no free descriptor.
 * It sets the lengths and the flags of its arguments as the blocking call does.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/resource.h>

#include "descriptors.h"

/* What a receive that ends sets. */
static struct msghdr message;
static socklen_t name_size;

/* Receive a byte by recv(), recvfrom() with an address, or recvmsg(). */
static void begin(struct cosy_async *op, int way, int fd)
{
	static struct sockaddr_storage name;
	static char byte, control[8];
	static struct iovec piece = { &byte, 1 };

	name_size = sizeof(name);
	message = (struct msghdr){
		.msg_name = &name, .msg_namelen = sizeof(name), .msg_iov = &piece, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control), .msg_flags = ~0,
	};
	if (way == 0)
		EQUAL(cosy_async_recv(loop, op, fd, &byte, 1, 0), 0);
	else if (way == 1)
		EQUAL(cosy_async_recvfrom(loop, op, fd, &byte, 1, 0, (struct sockaddr *)&name,
					  &name_size), 0);
	else
		EQUAL(cosy_async_recvmsg(loop, op, fd, &message, MSG_CMSG_CLOEXEC), 0);
}

static void shut_down(void (*open_both)(int fds[2]), int end_of, int how, int nonblock, int way)
{
	struct cosy_async op = { 0 };
	struct rlimit limit, none;
	int fds[2];

	open_both(fds);
	set_nonblock(fds[0], nonblock);
	begin(&op, way, fds[0]);
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
	if (way == 1)
		EQUAL(name_size, 0);
	if (way == 2) {
		EQUAL(message.msg_namelen, 0);
		EQUAL(message.msg_controllen, 0);
		EQUAL(message.msg_flags, MSG_CMSG_CLOEXEC);
	}
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
	for (int i = 0; i < 6; i++) {
		shut_down(stream_pair, 1, SHUT_WR, i & 1, i / 2);
		shut_down(stream_pair, 0, SHUT_RD, i & 1, i / 2);
		shut_down(tcp_pair, 1, SHUT_WR, i & 1, i / 2);
		shut_down(tcp_pair, 0, SHUT_RD, i & 1, i / 2);
		shut_down(datagram_pair, 0, SHUT_RD, i & 1, i / 2);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	puts("passed");
	return 0;
}
