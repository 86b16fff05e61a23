/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Datagrams and records are received whole; MSG_WAITALL receives all bytes, in the order of
 * submission, unless urgent data follows.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/uio.h>

#include "descriptors.h"

static void messages(void)
{
	struct cosy_async reader = { 0 }, writer = { 0 };
	char buffer[100], empty;
	struct iovec iov = { buffer, sizeof(buffer) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[2];

	/* A datagram is one message, also an empty one. Records end. */
	EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	EQUAL(cosy_async_recvmsg(loop, &reader, fds[0], &message, 0), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, fds[1], "record", 6), 0);
	EQUAL(result_of(loop, &writer), 6);
	EQUAL(result_of(loop, &reader), 6);
	end(fds[0]);
	end(fds[1]);

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	EQUAL(cosy_async_readv(loop, &reader, fds[0], &iov, 1), 0);
	execute(loop);
	EQUAL(cosy_async_send(loop, &writer, fds[1], "four", 4, 0), 0);
	EQUAL(result_of(loop, &writer), 4);
	EQUAL(result_of(loop, &reader), 4);
	EQUAL(cosy_async_send(loop, &writer, fds[1], &empty, 0, 0), 0);
	EQUAL(result_of(loop, &writer), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, 0), 0);
	EQUAL(result_of(loop, &reader), 0);
	/* A call with a non-blocking flag does not wait. */
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, MSG_DONTWAIT), 0);
	EQUAL(result_of(loop, &reader), -EAGAIN);
	/* This socket has no queue of errors. So the call waits for data. */
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 100, MSG_ERRQUEUE), 0);
	execute(loop);
	EQUAL(write(fds[1], "four", 4), 4);
	EQUAL(result_of(loop, &reader), 4);
	end(fds[0]);
	end(fds[1]);

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, MSG_WAITALL), 0);
	execute(loop);
	EQUAL(write(fds[1], "abc", 3), 3);
	execute(loop);
	EQUAL(write(fds[1], "def", 3), 3);
	EQUAL(result_of(loop, &reader), 6);
	EQUAL(memcmp(buffer, "abcdef", 6), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, MSG_WAITALL), 0);
	EQUAL(write(fds[1], "abc", 3), 3);
	execute(loop);
	end(fds[1]);
	EQUAL(result_of(loop, &reader), 3);
	end(fds[0]);

	/* Not a socket. */
	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_recv(loop, &reader, fds[0], buffer, 6, 0), 0);
	EQUAL(result_of(loop, &reader), -ENOTSOCK);
	EQUAL(cosy_async_accept(loop, &reader, fds[0], NULL, NULL), 0);
	EQUAL(result_of(loop, &reader), -ENOTSOCK);
	end(fds[0]);
	end(fds[1]);
}

/* MSG_WAITALL where a partial transfer cannot be continued: a thread receives, in the same order. */
static void wait_all(void)
{
	struct cosy_async first = { 0 }, second = { 0 }, third = { 0 };
	char a[6], b[6], c[6];
	struct iovec iov[2] = { { a, 6 }, { b, 6 } };
	struct msghdr message[2] = { { .msg_iov = &iov[0], .msg_iovlen = 1 },
				     { .msg_iov = &iov[1], .msg_iovlen = 1 } };
	int fds[2];

	tcp_pair(fds);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	EQUAL(cosy_async_recvmsg(loop, &second, fds[0], &message[1], MSG_WAITALL), 0);
	EQUAL(cosy_async_recv(loop, &third, fds[0], c, 6, MSG_WAITALL | MSG_PEEK), 0);
	for (const char *byte = "abcdefghijklmnopqr"; *byte; byte++) {
		EQUAL(send(fds[1], byte, 1, 0), 1);
		for (int i = 0; i < 3; i++)
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	EQUAL(result_of(loop, &first), 6);
	EQUAL(result_of(loop, &second), 6);
	EQUAL(result_of(loop, &third), 6);
	EQUAL(memcmp(a, "abcdef", 6) | memcmp(b, "ghijkl", 6) | memcmp(c, "mnopqr", 6), 0);
	EQUAL(cosy_async_recv(loop, &third, fds[0], c, 6, 0), 0);
	EQUAL(result_of(loop, &third), 6);

	/* Cancelled before there is anything to receive. */
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	execute(loop);
	EQUAL(cosy_cancel(loop, &first), 0);
	EQUAL(result_of(loop, &first), -ECANCELED);

	/* The call cannot wait, and the loop waits for the first bytes. */
	set_nonblock(fds[0], true);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	execute(loop);
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	EQUAL(result_of(loop, &first), 3);
	end(fds[0]);
	end(fds[1]);

	/* A socket that listens receives nothing. */
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	EQUAL(listen(fds[0], 1), 0);
	EQUAL(cosy_async_recvmsg(loop, &first, fds[0], &message[0], MSG_WAITALL), 0);
	EQUAL(result_of(loop, &first), -ENOTCONN);
	end(fds[0]);
}

/* MSG_WAITALL ends before urgent data, if something was received. */
static void before_urgent_data(void)
{
	struct cosy_async op = { 0 };
	char bytes[9];
	int fds[2];

	for (int i = 0; i < 4; i++) {
		if (i & 1)
			EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		else
			tcp_pair(fds);
		EQUAL(cosy_async_recv(loop, &op, fds[0], bytes, sizeof(bytes), MSG_WAITALL), 0);
		execute(loop);
		EQUAL(send(fds[1], "abc", 3, 0), 3);
		if (i & 2)
			execute(loop);
		EQUAL(send(fds[1], "!", 1, MSG_OOB), 1);
		EQUAL(result_of(loop, &op), 3);
		EQUAL(recv(fds[0], bytes, 1, MSG_OOB), 1);
		EQUAL(bytes[0], '!');
		EQUAL(send(fds[1], "def", 3, 0), 3);
		EQUAL(cosy_async_recv(loop, &op, fds[0], bytes, sizeof(bytes), 0), 0);
		EQUAL(result_of(loop, &op), 3);
		end(fds[0]);
		end(fds[1]);
	}
}

int main(void)
{
	loop = make_loop();
	messages();
	wait_all();
	before_urgent_data();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
