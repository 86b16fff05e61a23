// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Flags with which sendto() and sendmsg() wait natively: MSG_OOB, which never waits only when it
 * receives. Compounds of a loop wait, too.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 300 %t

#include "coroutine.h"

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
		      "it is sent: %lld", (long long)frame[GOT]);
		check(recv(sv[1], &byte, 1, MSG_OOB) == 1 && byte == '!', "it is urgent");
		frame[FD] = (__u64)sv[1];
		frame[BUF] = (uintptr_t)&byte;
		check(run(&loop, direct, frame, 0, 0) == 1 && (long long)frame[GOT] == -EINVAL,
		      "receiving urgent data does not wait: %lld", (long long)frame[GOT]);
		close(sv[0]);
		close(sv[1]);
	}
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	urgent();
	return finish();
}
