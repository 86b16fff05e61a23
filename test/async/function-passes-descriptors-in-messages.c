/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recvmsg() and sendmsg() in COSY_ASYNC functions. The module waits in them, and the process
 * receives descriptors that are sent with a message.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <sys/uio.h>

#include "functions.h"

struct server {
	int fd;
	char head[4];
	char body[60];
	int passed;
};

/* Answer each message with the same data, and store the descriptor that was sent with it. */
COSY_ASYNC static int serve(struct server *s)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec pieces[2] = { { s->head, sizeof(s->head) }, { s->body, sizeof(s->body) } };
	struct msghdr in = { .msg_iov = pieces, .msg_iovlen = 2 };
	struct iovec piece = { s->body, 0 };
	struct msghdr out = { .msg_iov = &piece, .msg_iovlen = 1 };
	int messages = 0;
	ssize_t n;

	for (;;) {
		in.msg_control = control;
		in.msg_controllen = sizeof(control);
		n = recvmsg(s->fd, &in, 0);
		if (n <= 4)
			break;
		if (in.msg_controllen)
			__builtin_memcpy(&s->passed, control + CMSG_LEN(0), sizeof(int));
		piece.iov_len = (size_t)n - 4;
		if (sendmsg(s->fd, &out, MSG_NOSIGNAL) != n - 4)
			return -errno;
		messages++;
	}
	return n < 0 ? -errno : messages;
}

static void send_with(int socket, const char *text, int passed)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {
		.header = {
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		},
	};
	struct iovec piece = { (void *)(uintptr_t)text, strlen(text) };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	memcpy(CMSG_DATA(&control.header), &passed, sizeof(int));
	if (passed >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	EQUAL(sendmsg(socket, &message, 0), (ssize_t)piece.iov_len);
}

static void serving(void)
{
	enum { N = 8 };
	static struct server servers[N];
	struct cosy_async ops[N] = { 0 };
	uint64_t before;
	int fds[N][2];
	char got[64];

	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		servers[i].fd = fds[i][0];
		servers[i].passed = -1;
		EQUAL(COSY_SPAWN(loop, serve(&servers[i]), .op = &ops[i]), 0);
	}
	settle();
	before = attempts();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < N; i++)
			send_with(fds[i][1], "headand a body", round == 2 ? fds[i][1] : -1);
		settle();
		for (int i = 0; i < N; i++) {
			EQUAL(recv(fds[i][1], got, sizeof(got), MSG_DONTWAIT), 10);
			EQUAL_BYTES(got, "and a body", 10);
			EQUAL(servers[i].passed >= 0, round >= 2);
		}
	}
	if (!__has_feature(address_sanitizer))
		EQUAL(attempts(), before);
	for (int i = 0; i < N; i++) {
		EQUAL(close(servers[i].passed), 0);
		EQUAL(shutdown(fds[i][1], SHUT_WR), 0);
		EQUAL(result_of(loop, &ops[i]), 4);
		close_fd(fds[i][0]);
		EQUAL(close(fds[i][1]), 0);
	}
}

/* The results of two calls. */
COSY_ASYNC static long receive_twice(int fd, struct msghdr *message, int flags)
{
	long n = recvmsg(fd, message, flags);
	long first = n < 0 ? -errno : n;

	n = recvmsg(fd, message, flags);
	return first * 1000 + (n < 0 ? -errno : n);
}

static void results(void)
{
	struct cosy_async op = { 0 };
	char bytes[8];
	struct iovec piece = { bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	int fds[2];

	open_pair(fds);
	EQUAL(COSY_SPAWN(loop, receive_twice(-1, &message, 0), .op = &op), 0);
	EQUAL(result_of(loop, &op), -EBADF * 1001);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0], NULL, 0), .op = &op), 0);
	EQUAL(result_of(loop, &op), -EFAULT * 1001);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0], &message, MSG_DONTWAIT), .op = &op), 0);
	EQUAL(result_of(loop, &op), -EAGAIN * 1001);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0], &message, MSG_PEEK), .op = &op), 0);
	settle();
	EQUAL(send(fds[1], "abc", 3, 0), 3);
	EQUAL(result_of(loop, &op), 3003);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0], &message, 0), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel_fd(loop, fds[0]), 1);
	settle();
	EQUAL(send(fds[1], "de", 2, 0), 2);
	EQUAL(result_of(loop, &op), 3000 - ECANCELED);
	EQUAL(recv(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT), 2);
	EQUAL(COSY_SPAWN(loop, receive_twice(fds[0], &message, 0), .op = &op), 0);
	settle();
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED * 1001);
	close_fd(fds[0]);
	EQUAL(close(fds[1]), 0);
}

int main(void)
{
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	serving();
	results();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
