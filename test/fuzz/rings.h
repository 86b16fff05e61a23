/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rings.h - the operations of module.c on the ring of the loop that all threads of a child share:
 * calls, receives that wait, sends, cancels, sleeping, and what others do to their sockets.
 */
#ifndef RINGS_H
#define RINGS_H

#include "../async/kernel/Inputs/ring.h"
#include "loops.h"

static struct ring ring;

/* Map the ring of the loop. */
static void make_ring(void)
{
	ring.loop = loop;
	if (ring_map(&ring))
		die("a ring");
}

/* Threads write their entries without a lock, as a process must not. */
static void write_entry(struct cosy_ring_entry *places, __u32 *tail,
			const struct cosy_ring_entry *entry)
{
	places[(rarely() ? any(ENTRIES) : *tail) % ENTRIES] = *entry;
	__atomic_fetch_add(tail, rarely() ? (__u32)number() : 1, __ATOMIC_RELEASE);
}

static void write_call(void)
{
	static const int nowait[] = { SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_fstat,
				      SYS_access, SYS_faccessat, SYS_faccessat2 };
	struct cosy_ring_entry entry = { .op = any(8) };
	const struct call *call = choose_call();

	switch (any(8)) {
	case 0:
		entry.nr = COSY_RING_NOP + any(5);
		entry.args[0] = (__u64)waiting_fd();
		entry.args[1] = any(8);
		break;
	case 1:
		entry.nr = (__u32)number();
		break;
	case 2:
	case 3:
		entry.nr = any(4) ? SYS_sendto : SYS_sendmsg;
		entry.flags = any(4) ? 0 : COSY_RING_LINKED;
		entry.args[0] = (__u64)waiting_fd();
		entry.args[1] = (__u64)memory();
		entry.args[2] = any(4) ? any(3000) : any(1 << 20);
		entry.args[3] = any(4) ? 0 : (__u64)integer();
		entry.args[4] = rarely() ? (__u64)memory() : 0;
		break;
	case 4:
		call = call_of(nowait[any(sizeof(nowait) / sizeof(*nowait))]);
		/* Fall through. */
	default:
		entry.nr = (__u32)call->nr;
		for (unsigned int i = 0; i < 6 && call->args[i]; i++)
			entry.args[i] = (__u64)value(call->args + i);
	}
	write_entry(ring.calls, &ring.page->calls_tail, &entry);
}

static void write_receive(int fd)
{
	static const int others[] = { SYS_recvmsg, SYS_accept, SYS_accept4 };
	const int other = others[any(sizeof(others) / sizeof(*others))];
	struct cosy_ring_entry entry = {
		.nr = rarely() ? (any(2) ? COSY_RING_NOP : (__u32)number()) :
		      !any(4) ? COSY_RING_RECEIVE : any(3) ? SYS_recvfrom : (__u32)other,
		.op = 1 + any(8),
		.args = { (__u64)fd, (__u64)memory(), any(3000),
			  any(8) ? 0 : (__u64)integer(), rarely() ? (__u64)memory() : 0 },
	};

	ring.page->nbuffers = any(3);
	ring.page->buffer_start = (__u64)memory();
	ring.page->buffer_size = rarely() ? (__u64)integer() : any(3000);
	/* The length of an address. */
	entry.args[5] = entry.args[4] ? (__u64)memory() : 0;
	if (entry.nr == SYS_accept4)
		entry.args[3] = any(3) ? 0 : (__u64)integer();
	write_entry(ring.receives, &ring.page->receives_tail, &entry);
}

/* Enter the ring, for each possible purpose. */
static void enter_ring(void)
{
	__u64 what = any(4) ? COSY_RING_MAX : 1 + any(COSY_RING_MAX);

	switch (any(12)) {
	case 0:
		what = COSY_ASYNC_CANCEL_FD | (__u64)waiting_fd();
		break;
	case 1:
		what = COSY_ASYNC_CANCEL_FD | COSY_ASYNC_CANCEL | (__u64)waiting_fd();
		break;
	case 2:
		what = any(2) ? COSY_ASYNC_CANCEL : COSY_ASYNC_WORK;
		break;
	case 3:
	case 4:
		ring.page->sleep_fd = any(3) ? -1 : 3 + (int)any(24);
		ring.page->sleep_ns = any(4) ? any(5000000) : COSY_ASYNC_FOR_EVER;
		what |= COSY_ASYNC_SLEEP;
		break;
	case 5:
		what |= COSY_ASYNC_AWAIT;
		break;
	case 6:
		what = (__u64)number() | (__u64)any(64) << 32;
		break;
	}
	ring_command(&ring, what);
}

/* The loop's own descriptor, in flight over a socket for which the ring may wait. */
static void send_the_loop(void)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &piece, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &loop.fd, sizeof(int));
	sendmsg(FD_STREAM + (int)any(4), &message, MSG_DONTWAIT);
}

/* Others have the descriptors of sockets, and sockets are empty, full, or shut. */
static void disturb_sockets(void)
{
	int fd = waiting_fd(), sv[2];
	char *bytes = arena + (1 + any(PAGES - 2)) * PAGE;

	switch (any(6)) {
	case 0:
		if (socketpair(AF_UNIX, any(2) ? SOCK_STREAM : SOCK_DGRAM, 0, sv))
			break;
		dup2(sv[0], fd);
		dup2(sv[1], peer_of(fd));
		close(sv[0]);
		close(sv[1]);
		break;
	case 1:
		dup2(waiting_fd(), fd);
		break;
	case 2:
		for (int i = 0; i < 64 && send(fd, bytes, PAGE, MSG_DONTWAIT) > 0; i++)
			;
		break;
	case 3:
		for (int i = 0; i < 64 && recv(fd, bytes, PAGE, MSG_DONTWAIT) > 0; i++)
			;
		break;
	case 4:
		send_the_loop();
		break;
	default:
		if (rarely())
			shutdown(fd, (int)any(3));
	}
}

/* Operations on the ring's pages. */
static void disturb_ring(void)
{
	char *page = (char *)ring.page + any((unsigned int)(ring.size / PAGE)) * PAGE;
	struct pollfd poll_loop = { .fd = loop.fd, .events = POLLIN };

	switch (any(6)) {
	case 0:
		mprotect(page, PAGE, (int)any(4));
		break;
	case 1:
		madvise(page, PAGE, (int)any(26));
		break;
	case 2:
		if (rarely())
			munmap(page, PAGE);
		break;
	case 3:
		poll(&poll_loop, 1, (int)any(3));
		break;
	case 4:
		read_fdinfo();
		break;
	default:
		((__u32 *)ring.page)[any(sizeof(*ring.page) / 4)] = (__u32)number();
	}
}

/* A receive waits, others are delayed by calls, and all are made when data comes. */
static void receive_and_feed(void)
{
	unsigned int times = 1 + any(6);
	int fd = waiting_fd();

	while (times--) {
		write_receive(any(3) ? fd : waiting_fd());
		ring_command(&ring, COSY_RING_MAX | (any(2) ? COSY_ASYNC_AWAIT : 0));
		if (any(4))
			feed(fd);
		if (any(2))
			write_call();
	}
	enter_ring();
}

static void use_ring(void)
{
	unsigned int steps = 1 + any(16);

	while (steps--) {
		switch (any(12)) {
		case 0:
			disturb_ring();
			break;
		case 1:
		case 2:
			disturb_sockets();
			break;
		case 3:
		case 4:
			write_call();
			break;
		case 5:
			write_receive(waiting_fd());
			break;
		case 6:
			feed(waiting_fd());
			break;
		case 7:
		case 8:
			receive_and_feed();
			break;
		default:
			enter_ring();
		}
	}
}

#endif /* RINGS_H */
