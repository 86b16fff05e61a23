// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Flags with which calls wait natively: MSG_OOB, which never waits only when a stream receives;
 * MSG_FASTOPEN, which waits for the connection; and MSG_ERRQUEUE, where the socket has no queue of
 * errors. Compounds of a loop wait, too.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/coroutine.h"

#include <netinet/in.h>

/* Send until there is no room. */
static void fill(int fd)
{
	char bytes[1024] = "";

	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	while (send(fd, bytes, 1, MSG_DONTWAIT) == 1)
		;
}

static void urgent(void)
{
	struct iovec piece = { (void *)"!", 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	static __u64 frame[NREGS + 1];
	__u64 sends[2], direct;
	char in[4096], byte;
	struct loop loop;
	int sv[2];

	sends[0] = LOAD_FOR_LOOPS(SEND(GOT, FD, BUF, SIZE, MSG_OOB), EXIT(1));
	sends[1] = LOAD_FOR_LOOPS(SENDMSG(GOT, FD, BUF, MSG_OOB), EXIT(1));
	direct = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_OOB), EXIT(1));
	create(&loop, 64);
	frame[SIZE] = 1;
	for (int i = 0; i < 2; i++) {
		pair(sv);
		fill(sv[0]);
		frame[FD] = (__u64)sv[0];
		frame[BUF] = i ? (uintptr_t)&message : (uintptr_t)piece.iov_base;
		start(&loop, 0, sends[i], frame, 0, 0);
		check(go(&loop, 0) == 0, "%s: urgent data waits for room",
		      i ? "sendmsg" : "sendto");
		while (recv(sv[1], in, sizeof(in), MSG_DONTWAIT) > 0)
			;
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == 1 &&
			      frame[GOT] == 1,
		      "urgent data is sent when there is room: %lld", (long long)frame[GOT]);
		check(recv(sv[1], &byte, 1, MSG_OOB) == 1 && byte == '!',
		      "the receiver gets it as urgent data");
		frame[FD] = (__u64)sv[1];
		frame[BUF] = (uintptr_t)&byte;
		check(run(&loop, direct, frame, 0, 0) == 1 && (long long)frame[GOT] == -EINVAL,
		      "EINVAL: a receive of urgent data does not wait: %lld",
		      (long long)frame[GOT]);
		close(sv[0]);
		close(sv[1]);
	}
	destroy(&loop);
}

/* UDP ignores MSG_OOB. */
static void urgent_datagram(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	static __u64 frame[NREGS + 1];
	socklen_t size = sizeof(name);
	struct loop loop;
	char byte = 0;

	if (bind(in, (struct sockaddr *)&name, size) ||
	    getsockname(in, (struct sockaddr *)&name, &size) ||
	    connect(out, (struct sockaddr *)&name, size))
		die("connect");
	create(&loop, 64);
	frame[FD] = (__u64)in;
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	start(&loop, 0, LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_OOB), EXIT(1)), frame, 0, 0);
	check(go(&loop, 0) == 0, "a receive of urgent data waits for a datagram");
	if (send(out, "x", 1, 0) != 1)
		die("send");
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == 1 &&
		      frame[GOT] == 1 && byte == 'x',
	      "and gets it: %lld", (long long)frame[GOT]);
	close(in);
	close(out);
	destroy(&loop);
}

/* The data is more than fits into the buffers, so it is sent in pieces. */
#define OPENING (1 << 20)

static void opening(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	static char out[OPENING], in[OPENING];
	struct iovec piece = { out, 5 };
	struct msghdr message = {
		.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &piece,
		.msg_iovlen = 1,
	};
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	static __u64 frame[NREGS + 1];
	__u64 sends[2];
	struct loop loop;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + (i >> 8));
	if (bind(listener, (struct sockaddr *)&name, size) || listen(listener, 4) ||
	    getsockname(listener, (struct sockaddr *)&name, &size))
		die("listen");
	sends[0] = LOAD_FOR_LOOPS(SYS(GOT, SYS_sendto, 6), ARG(FD), ARG(BUF), ARG(SIZE),
				  ARGI(MSG_FASTOPEN), ARGI((uintptr_t)&name), ARGI(sizeof(name)),
				  EXIT(1));
	sends[1] = LOAD_FOR_LOOPS(SENDMSG(GOT, FD, BUF, MSG_FASTOPEN), EXIT(1));
	create(&loop, 64);
	for (int i = 0; i < 2; i++) {
		const char *call = i ? "sendmsg" : "sendto";
		size_t all = i ? piece.iov_len : sizeof(out), received = 0;
		int fd = socket(AF_INET, SOCK_STREAM, 0), peer, ended = 0;

		frame[FD] = (__u64)fd;
		frame[BUF] = i ? (uintptr_t)&message : (uintptr_t)out;
		frame[SIZE] = all;
		start(&loop, 0, sends[i], frame, 0, 0);
		ended = execute(&loop);
		peer = accept(listener, NULL, NULL);
		for (int tries = 0; (received < all || !ended) && tries < 10000000; tries++) {
			ssize_t n = recv(peer, in + received, all - received, MSG_DONTWAIT);

			if (n > 0)
				received += (size_t)n;
			ended += execute(&loop);
		}
		check(ended == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == 1 &&
			      frame[GOT] == all,
		      "%s with MSG_FASTOPEN waits for the connection and sends: %lld of %zu",
		      call, (long long)frame[GOT], all);
		check(received == all && !memcmp(in, out, all),
		      "%s: the receiver gets all data", call);
		close(fd);
		close(peer);
	}

	/* No socket listens. */
	close(listener);
	frame[FD] = (__u64)socket(AF_INET, SOCK_STREAM, 0);
	frame[BUF] = (uintptr_t)out;
	frame[SIZE] = 5;
	start(&loop, 0, sends[0], frame, 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frame[GOT] == -ECONNREFUSED,
	      "ECONNREFUSED: no socket listens: %lld", (long long)frame[GOT]);
	close((int)frame[FD]);
	destroy(&loop);
}

static void errors(void)
{
	char byte = 0;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	static __u64 frame[NREGS + 1];
	__u64 receives[2];
	struct loop loop;
	int sv[2], udp = socket(AF_INET, SOCK_DGRAM, 0);

	receives[0] = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, MSG_ERRQUEUE), EXIT(1));
	receives[1] = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_ERRQUEUE), EXIT(1));
	create(&loop, 64);
	pair(sv);
	frame[SIZE] = 1;
	for (int i = 0; i < 2; i++) {
		const char *call = i ? "recvmsg" : "recvfrom";

		frame[BUF] = i ? (uintptr_t)&message : (uintptr_t)&byte;
		frame[FD] = (__u64)udp;
		check(run(&loop, receives[i], frame, 0, 0) == 1 && (long long)frame[GOT] == -EAGAIN,
		      "EAGAIN: %s does not wait for an empty queue of errors: %lld",
		      call, (long long)frame[GOT]);
		frame[FD] = (__u64)sv[0];
		start(&loop, 0, receives[i], frame, 0, 0);
		check(go(&loop, 0) == 0,
		      "%s waits, because the socket has no queue of errors", call);
		check(send(sv[1], "!", 1, 0) == 1, "data is sent");
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frame[GOT] == 1 && byte == '!',
		      "%s receives data: %lld", call, (long long)frame[GOT]);
	}
	close(sv[0]);
	close(sv[1]);
	close(udp);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	urgent();
	urgent_datagram();
	errors();
	opening();
	return finish();
}
