// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * recvmsg() and sendmsg() of a compound wait. The system call reads the message each time.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/compounds.h"

/* recvmsg() and sendmsg(): the system call reads the message each time. */
static void messages(void)
{
	static __u64 frames[2][NREGS + 1];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 }, sent = {
		.header = {
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		},
	};
	static char large[1 << 20], bytes[8];
	struct iovec to[2] = { { bytes, 2 }, { bytes + 2, 3 } };
	struct iovec from = { large, sizeof(large) }, two = { (void *)"hi", 2 };
	struct msghdr in = { .msg_iov = to, .msg_iovlen = 2 };
	struct msghdr out = { .msg_iov = &from, .msg_iovlen = 1 };
	struct msghdr passing = {
		.msg_iov = &two,
		.msg_iovlen = 1,
		.msg_control = &sent,
		.msg_controllen = sizeof(sent),
	};
	__u64 get, peek, all, put;
	struct loop loop;
	int sv[2], fd;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_MESSAGES, "the loop says that it waits in recvmsg()");
	get = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, 0), EXIT(1));
	peek = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_PEEK), EXIT(1));
	all = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_WAITALL), EXIT(1));
	put = LOAD_FOR_LOOPS(SENDMSG(GOT, FD, BUF, 0), EXIT(1));
	pair(sv);
	frames[0][FD] = (__u64)sv[0];
	frames[0][BUF] = (uintptr_t)&in;
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !readable(loop.fd), "it waits");
	send(sv[1], "hello", 5, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 5 &&
	      !memcmp(bytes, "hello", 5), "for a message in two pieces");

	/* A descriptor is received with it. */
	in.msg_control = &control;
	in.msg_controllen = sizeof(control);
	memcpy(CMSG_DATA(&sent.header), &device, sizeof(int));
	start(&loop, 0, peek, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "it waits to look");
	frames[1][FD] = (__u64)sv[1];
	frames[1][BUF] = (uintptr_t)&passing;
	check(run(&loop, put, frames[1], 0, 0) == -1000 && frames[1][GOT] == 2, "one is sent");
	go(&loop, 0);
	while (collect(&loop) >= 0)
		;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(frames[0][GOT] == 2 && in.msg_controllen == CMSG_SPACE(sizeof(int)) &&
	      !ioctl(fd, COSY_IOC_UNLOAD, &peek), "it sees the message, and its descriptor");
	close(fd);
	in.msg_controllen = sizeof(control);
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 2 &&
	      in.msg_controllen == CMSG_SPACE(sizeof(int)), "and then another one receives it");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(fd != device && !close(fd), "with a descriptor of its own");
	in.msg_control = NULL;
	in.msg_controllen = 0;

	/* Errors are returned immediately. */
	frames[0][BUF] = 8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no message");
	frames[0][BUF] = (uintptr_t)&in;
	in.msg_iov = (void *)8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "no pieces");
	in.msg_iov = to;
	in.msg_iovlen = 1ul << 40;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EMSGSIZE,
	      "too many pieces");
	in.msg_iovlen = 2;
	frames[0][FD] = (__u64)device;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -ENOTSOCK,
	      "no socket");
	frames[0][FD] = 1000;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EBADF, "no file");
	frames[0][FD] = (__u64)sv[0];
	start(&loop, 0, all, frames[0], 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0),
	      "MSG_WAITALL is left to the process");

	/* The message is unmapped while it waits. */
	frames[0][BUF] = (uintptr_t)must_map(4096);
	memcpy((void *)(uintptr_t)frames[0][BUF], &in, sizeof(in));
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !munmap((void *)(uintptr_t)frames[0][BUF], 4096) &&
	      send(sv[1], "x", 1, 0) == 1 && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -EFAULT, "the message goes");
	frames[0][BUF] = (uintptr_t)&in;
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 1, "not what was sent");
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -ECANCELED, "one is cancelled");

	/* Sends as much as there is room for, like an operation, and waits if there is none. */
	frames[0][BUF] = (uintptr_t)&out;
	check(run(&loop, put, frames[0], 0, 0) == 1 && frames[0][GOT] > 0 &&
	      frames[0][GOT] < sizeof(large), "a part is sent");
	start(&loop, 0, put, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "there is no room");
	while (recv(sv[1], large, sizeof(large), MSG_DONTWAIT) > 0)
		;
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] > 0, "until there is some");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	messages();
	return finish();
}
