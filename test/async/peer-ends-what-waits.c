/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operation that waits ends when its peer is closed, reset or shut down, with the error of a
 * blocking call.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/uio.h>
#include <sys/un.h>

#include "descriptors.h"

/* Read the error of a socket, which the next call would get. */
static int error_of(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	EQUAL(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
	return error;
}

/* Close a socket of TCP so that the other end is reset. */
static void reset(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	EQUAL(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
	EQUAL(close(fd), 0);
}

/*
 * Connections of TCP that are reset while a call waits. If a part was transferred, the call returns
 * its size, and the error remains; so it does if the call receives no bytes.
 */
static void reset_tcp(bool nonblock)
{
	static char large[16 * LARGE];
	struct iovec pieces[] = { { large, 0 }, { NULL, 0 } };
	struct msghdr messages[] = {
		{ .msg_flags = ~0 },
		{ .msg_flags = ~0, .msg_iov = pieces, .msg_iovlen = 2 },
	};
	struct cosy_async op = { 0 };
	int fds[2];

	for (int i = 0; i < 6; i++) {
		tcp_pair(fds);
		set_nonblock(fds[0], nonblock);
		if (i == 0)
			EQUAL(cosy_async_send(loop, &op, fds[0], large, sizeof(large), 0), 0);
		else if (i == 1)
			EQUAL(cosy_async_write(loop, &op, fds[0], large, sizeof(large)), 0);
		else if (i == 2)
			EQUAL(cosy_async_recv(loop, &op, fds[0], large, 9, MSG_WAITALL), 0);
		else if (i == 3)
			EQUAL(cosy_async_recv(loop, &op, fds[0], large, 0, 0), 0);
		else
			EQUAL(cosy_async_recvmsg(loop, &op, fds[0], &messages[i - 4],
						 MSG_CMSG_CLOEXEC), 0);
		execute(loop);
		if (i == 2)
			EQUAL(send(fds[1], "abc", 3, 0), 3);
		execute(loop);
		reset(fds[1]);
		if (i < 2)
			CHECK(result_of(loop, &op) > 0);
		else
			EQUAL(result_of(loop, &op), i == 2 ? 3 : 0);
		if (i > 3)
			EQUAL(messages[i - 4].msg_flags, MSG_CMSG_CLOEXEC);
		EQUAL(error_of(fds[0]), ECONNRESET);
		end(fds[0]);
	}
	/* Nothing was transferred. */
	tcp_pair(fds);
	set_nonblock(fds[0], nonblock);
	EQUAL(cosy_async_recv(loop, &op, fds[0], large, 9, MSG_WAITALL), 0);
	execute(loop);
	reset(fds[1]);
	EQUAL(result_of(loop, &op), -ECONNRESET);
	EQUAL(error_of(fds[0]), 0);
	end(fds[0]);
}

/* Fill a socket, and begin to send one more byte by one of three calls. */
static void begin_to_send(struct cosy_async *op, int fd, bool nonblock, int call)
{
	static char byte;
	static struct iovec piece = { &byte, 1 };
	static struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	while (send(fd, &byte, 1, MSG_DONTWAIT) == 1)
		;
	set_nonblock(fd, nonblock);
	if (call == 0)
		EQUAL(cosy_async_send(loop, op, fd, &byte, 1, 0), 0);
	else if (call == 1)
		EQUAL(cosy_async_write(loop, op, fd, &byte, 1), 0);
	else
		EQUAL(cosy_async_sendmsg(loop, op, fd, &message, 0), 0);
}

/* In AF_UNIX a call that waits to send takes the error, and raises no SIGPIPE. */
static void reset_unix(bool nonblock)
{
	static char large[LARGE];
	struct cosy_async op = { 0 }, second = { 0 };
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	set_nonblock(fds[0], nonblock);
	EQUAL(cosy_async_send(loop, &op, fds[0], large, sizeof(large), 0), 0);
	execute(loop);
	EQUAL(close(fds[1]), 0);
	CHECK(result_of(loop, &op) > 0);
	EQUAL(error_of(fds[0]), 0);
	end(fds[0]);

	for (int i = 0; i < 3; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		begin_to_send(&op, fds[0], nonblock, i);
		EQUAL(cosy_async_send(loop, &second, fds[0], large, 1, 0), 0);
		execute(loop);
		EQUAL(close(fds[1]), 0);
		EQUAL(result_of(loop, &op), -ECONNRESET);
		EQUAL(result_of(loop, &second), -EPIPE);
		end(fds[0]);
	}
}

/* Return true if the module waits for operations on sockets. */
static bool module_waits(void)
{
	const char *executor = getenv("COSY_EXECUTOR");
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel && executor && !strcmp(executor, "kernel");
}

/*
 * In the module, a call that waits to send also ends when one side is shut down only, in either
 * direction. epoll does not notice that, and waits for all if several wait to send.
 */
static void shut_down_senders(bool nonblock)
{
	struct cosy_async op = { 0 };
	int fds[2];

	for (int i = 0; i < 6 && module_waits(); i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		begin_to_send(&op, fds[0], nonblock, i % 3);
		execute(loop);
		if (i < 3)
			EQUAL(shutdown(fds[1], SHUT_RD), 0);
		else
			EQUAL(shutdown(fds[0], SHUT_WR), 0);
		EQUAL(result_of(loop, &op), -EPIPE);
		end(fds[0]);
		end(fds[1]);
	}
}

/*
 * A datagram socket that is shut down has no more input. Blocking calls return 0, although those
 * that do not block return -EAGAIN.
 */
static void shut_down_datagrams(int fd, bool nonblock)
{
	struct cosy_async op = { 0 };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	struct msghdr msg = {
		.msg_name = &name, .msg_namelen = sizeof(name),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &name, .msg_controllen = sizeof(name), .msg_flags = ~0,
	};

	set_nonblock(fd, nonblock);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	execute(loop);
	/* It fails if there is no peer, and has an effect nevertheless. */
	shutdown(fd, SHUT_RD);
	completes(&op, 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, 0), 0);
	completes(&op, 0);
	/* It sets the lengths. */
	EQUAL(cosy_async_recvfrom(loop, &op, fd, &byte, 1, 0, &name, &size), 0);
	completes(&op, 0);
	EQUAL(size, 0);
	EQUAL(cosy_async_recvmsg(loop, &op, fd, &msg, 0), 0);
	completes(&op, 0);
	EQUAL(msg.msg_namelen, 0);
	EQUAL(msg.msg_controllen, 0);
	EQUAL(msg.msg_flags, 0);
	EQUAL(cosy_async_read(loop, &op, fd, &byte, 1), 0);
	completes(&op, 0);
	EQUAL(cosy_async_recv(loop, &op, fd, &byte, 1, MSG_DONTWAIT), 0);
	completes(&op, -EAGAIN);
	end(fd);
}

static void shut_down_listener(bool nonblock)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct cosy_async op = { 0 };

	set_nonblock(fd, nonblock);
	EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	EQUAL(listen(fd, 1), 0);
	EQUAL(cosy_async_accept(loop, &op, fd, NULL, NULL), 0);
	execute(loop);
	EQUAL(shutdown(fd, SHUT_RD), 0);
	completes(&op, -EINVAL);
	EQUAL(cosy_async_accept(loop, &op, fd, NULL, NULL), 0);
	completes(&op, -EINVAL);
	end(fd);
}

static void shut_down(bool nonblock)
{
	int fds[2];

	shut_down_listener(nonblock);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	shut_down_datagrams(fds[0], nonblock);
	shut_down_datagrams(socket(AF_INET, SOCK_DGRAM, 0), nonblock);
	end(fds[1]);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		shut_down(nonblock);
		reset_tcp(nonblock);
		reset_unix(nonblock);
		shut_down_senders(nonblock);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
