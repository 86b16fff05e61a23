// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * recvmsg() and sendmsg() of a compound wait. The system call reads the message each time.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

static __u64 frames[2][NREGS + 1];
static char large[1 << 20], bytes[8];
static struct iovec to[2] = { { bytes, 2 }, { bytes + 2, 3 } };
static struct iovec from = { large, sizeof(large) };
static struct msghdr in = { .msg_iov = to, .msg_iovlen = 2 };
static struct msghdr out = { .msg_iov = &from, .msg_iovlen = 1 };
static __u64 get, peek, all, put;
static struct loop loop;
static int sv[2];

static void set_up(void)
{
	load_all();
	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_MESSAGES, "the loop says that it waits in recvmsg()");
	get = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, 0), EXIT(1));
	peek = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_PEEK), EXIT(1));
	all = LOAD_FOR_LOOPS(RECVMSG(GOT, FD, BUF, MSG_WAITALL), EXIT(1));
	put = LOAD_FOR_LOOPS(SENDMSG(GOT, FD, BUF, 0), EXIT(1));
	pair(sv);
	frames[0][FD] = (__u64)sv[0];
	frames[0][BUF] = (uintptr_t)&in;
}

static void message_in_two_pieces(void)
{
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !readable(loop.fd), "the compound waits for a message");
	send(sv[1], "hello", 5, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 5 &&
	      !memcmp(bytes, "hello", 5), "it receives a message in two pieces");
}

static void message_with_a_descriptor(void)
{
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
	struct iovec two = { (void *)"hi", 2 };
	struct msghdr passing = {
		.msg_iov = &two,
		.msg_iovlen = 1,
		.msg_control = &sent,
		.msg_controllen = sizeof(sent),
	};
	int fd;

	in.msg_control = &control;
	in.msg_controllen = sizeof(control);
	memcpy(CMSG_DATA(&sent.header), &device, sizeof(int));
	start(&loop, 0, peek, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "MSG_PEEK waits for a message");
	frames[1][FD] = (__u64)sv[1];
	frames[1][BUF] = (uintptr_t)&passing;
	check(run(&loop, put, frames[1], 0, 0) == -1000 && frames[1][GOT] == 2,
	      "a compound sends a message while another one waits");
	go(&loop, 0);
	while (collect(&loop) >= 0)
		;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(frames[0][GOT] == 2 && in.msg_controllen == CMSG_SPACE(sizeof(int)) &&
	      !ioctl(fd, COSY_IOC_UNLOAD, &peek), "MSG_PEEK gets the message and a descriptor");
	close(fd);
	in.msg_controllen = sizeof(control);
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 2 &&
	      in.msg_controllen == CMSG_SPACE(sizeof(int)), "the message is still there");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	check(fd != device && !close(fd), "it gives another descriptor");
	in.msg_control = NULL;
	in.msg_controllen = 0;
}

/* Errors are returned immediately. */
static void wrong_arguments(void)
{
	frames[0][BUF] = 8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "EFAULT: the message header is unmapped");
	frames[0][BUF] = (uintptr_t)&in;
	in.msg_iov = (void *)8;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EFAULT,
	      "EFAULT: the list of pieces is unmapped");
	in.msg_iov = to;
	in.msg_iovlen = 1ul << 40;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EMSGSIZE,
	      "EMSGSIZE: too many pieces");
	in.msg_iovlen = 2;
	frames[0][FD] = (__u64)device;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -ENOTSOCK,
	      "ENOTSOCK: the descriptor is no socket");
	frames[0][FD] = 1000;
	check(run(&loop, get, frames[0], 0, 0) == 1 && (long long)frames[0][GOT] == -EBADF,
	      "EBADF: the descriptor is not open");
	frames[0][FD] = (__u64)sv[0];
	start(&loop, 0, all, frames[0], 0, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0),
	      "MSG_WAITALL is left to the process");
}

static void wait_that_fails(void)
{
	frames[0][BUF] = (uintptr_t)must_map(4096);
	memcpy((void *)(uintptr_t)frames[0][BUF], &in, sizeof(in));
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && !munmap((void *)(uintptr_t)frames[0][BUF], 4096) &&
	      send(sv[1], "x", 1, 0) == 1 && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -EFAULT,
	      "EFAULT: the message header is unmapped during the wait");
	frames[0][BUF] = (uintptr_t)&in;
	check(run(&loop, get, frames[0], 0, 0) == 1 && frames[0][GOT] == 1,
	      "what was sent is still in the socket");
	start(&loop, 0, get, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -ECANCELED, "ECANCELED: the entry is cancelled");
}

/* Sends as much as there is room for, like an operation, and waits if there is none. */
static void message_without_room(void)
{
	frames[0][BUF] = (uintptr_t)&out;
	check(run(&loop, put, frames[0], 0, 0) == 1 && frames[0][GOT] > 0 &&
	      frames[0][GOT] < sizeof(large), "a part of a large message is sent");
	start(&loop, 0, put, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the next compound waits, because the socket is full");
	while (recv(sv[1], large, sizeof(large), MSG_DONTWAIT) > 0)
		;
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] > 0,
	      "it sends when there is room");
}

int main(void)
{
	device = open_device();
	set_up();
	message_in_two_pieces();
	message_with_a_descriptor();
	wrong_arguments();
	wait_that_fails();
	message_without_room();
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
	return finish();
}
