/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rings.h - the operations of module.c on the ring of the loop that all threads of a child share:
 * calls, receives that wait, sends, replies, cancels, sleeping, and what others do to their sockets
 * and to the page.
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
	__atomic_fetch_add(tail, rarely() && rarely() ? (__u32)number() : 1, __ATOMIC_RELEASE);
}

/* Go on after a wrong index: nothing is submitted. */
static void discard_entries(void)
{
	ring.page->calls_tail = ring.page->calls_head;
	ring.page->receives_tail = ring.page->receives_head;
}

/* The operation of an entry. That of a descriptor can be cancelled by its number. */
static __u64 operation_of(int fd)
{
	return any(4) ? (__u64)fd : any(8);
}

static __u32 any_flags(void)
{
	switch (any(12)) {
	case 0:
		return COSY_RING_WAITED | any(2);
	case 1:
		return (__u32)number();
	default:
		return any(4) ? 0 : COSY_RING_LINKED;
	}
}

static struct cosy_ring_entry send_to(int fd)
{
	return (struct cosy_ring_entry){
		.nr = any(4) ? SYS_sendto : SYS_sendmsg,
		.flags = any_flags(),
		.op = any(4) ? operation_of(fd) : 0,
		.args = { (__u64)fd, (__u64)memory(), any(4) ? any(3000) : any(1 << 20),
			  any(4) ? 0 : (__u64)integer(), rarely() ? (__u64)memory() : 0 },
	};
}

static void write_call(void)
{
	static const int made[] = {
#define COSY_RING_CALL(name, made) SYS_##name,
#define COSY_NOWAIT(name) SYS_##name,
#include <syscalls.def>
	};
	struct cosy_ring_entry entry = { .op = any(8) };
	const struct call *call = choose_call();
	int fd = waiting_fd();

	switch (any(8)) {
	case 0:
		entry.nr = COSY_RING_NOP + any(5);
		entry.args[0] = (__u64)fd;
		entry.args[1] = operation_of(fd);
		break;
	case 1:
		entry.nr = (__u32)number();
		break;
	case 2:
	case 3:
		entry = send_to(fd);
		break;
	case 4:
	case 5:
		call = call_of(made[any(sizeof(made) / sizeof(*made))]);
		/* Fall through. */
	default:
		entry.nr = (__u32)call->nr;
		entry.flags = rarely() ? any_flags() : 0;
		for (unsigned int i = 0; i < 6 && call->args[i]; i++)
			entry.args[i] = (__u64)value(call->args + i);
	}
	write_entry(ring.calls, &ring.page->calls_tail, &entry);
}

/* Numbers of buffers, which the process may repeat. They are mostly inside the arena. */
static void provide_buffers(void)
{
	/* The offset in the page may be overwritten. */
	__u32 *numbers = (__u32 *)(ring.done + ENTRIES);

	for (unsigned int i = 0; i < 4; i++)
		numbers[any(ENTRIES)] = rarely() ? (__u32)number() : any(8);
	ring.page->nbuffers = rarely() ? (__u32)number() : any(ENTRIES + 2);
	ring.page->buffer_start = (__u64)memory();
	ring.page->buffer_size = rarely() ? (__u64)integer() : any(3000);
}

static struct cosy_ring_entry receive_from(int fd)
{
	static const int others[] = { SYS_recvmsg, SYS_accept, SYS_accept4 };
	const int other = others[any(sizeof(others) / sizeof(*others))];
	struct cosy_ring_entry entry = {
		.nr = rarely() ? (any(2) ? COSY_RING_NOP : (__u32)number()) :
		      !any(4) ? COSY_RING_RECEIVE : any(3) ? SYS_recvfrom : (__u32)other,
		.op = operation_of(fd),
		.args = { (__u64)fd, (__u64)memory(), any(3000),
			  any(8) ? 0 : (__u64)integer(), rarely() ? (__u64)memory() : 0 },
	};

	/* The length of an address. */
	entry.args[5] = entry.args[4] ? (__u64)memory() : 0;
	if (entry.nr == SYS_accept4)
		entry.args[3] = any(3) ? 0 : (__u64)integer();
	return entry;
}

static void write_receive(int fd)
{
	struct cosy_ring_entry entry = receive_from(fd);

	entry.flags = rarely() ? any_flags() : 0;
	if (!any(3))
		provide_buffers();
	write_entry(ring.receives, &ring.page->receives_tail, &entry);
}

/* A send and a receive of one operation. The place of the send may be wrong. */
static void write_reply(int fd)
{
	struct cosy_ring_entry send = send_to(fd), receive = receive_from(fd);
	__u32 place = ring.page->calls_tail + (rarely() ? any(ENTRIES) : 0);

	send.flags = COSY_RING_LINKED;
	receive.flags = place << 1 | COSY_RING_LINKED;
	receive.op = send.op;
	write_entry(ring.calls, &ring.page->calls_tail, &send);
	write_entry(ring.receives, &ring.page->receives_tail, &receive);
}

/* What waits for a descriptor is cancelled, in the ring or by a command. */
static void cancel(int fd)
{
	struct cosy_ring_entry entry = {
		.nr = any(2) ? COSY_RING_CANCEL : COSY_RING_CANCEL_SEND,
		.args = { (__u64)fd, (__u64)fd },
	};

	if (any(2))
		write_entry(ring.calls, &ring.page->calls_tail, &entry);
	else
		ring_command(&ring, COSY_ASYNC_CANCEL_FD | (any(2) ? COSY_ASYNC_CANCEL : 0) |
				    (__u64)fd);
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

/* A descriptor of the module, in flight over a socket for which the ring may wait. */
static void send_descriptor(int fd)
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
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	sendmsg(FD_STREAM + (int)any(4), &message, MSG_DONTWAIT);
}

/* A stream of AF_UNIX is full afterwards; a datagram socket may never be. */
static void fill_socket(int fd, const char *bytes)
{
	for (int i = 0; i < 64 && send(fd, bytes, PAGE, MSG_DONTWAIT) > 0; i++)
		;
}

static void empty_socket(int fd, char *bytes)
{
	for (int i = 0; i < 64 && recv(fd, bytes, PAGE, MSG_DONTWAIT) > 0; i++)
		;
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
		fill_socket(fd, bytes);
		break;
	case 3:
		empty_socket(fd, bytes);
		break;
	case 4:
		send_descriptor(loop.fd);
		break;
	default:
		if (rarely())
			shutdown(fd, (int)any(3));
	}
}

/* Write to any words, while other threads may be in the ring. */
static void scribble(void)
{
	const unsigned int n = (unsigned int)(any(2) ? sizeof(*ring.page) : ring.size) / 4;
	__u32 *words = (__u32 *)ring.page;

	for (unsigned int times = 1 + any(16); times; times--)
		words[any(n)] = any(3) ? words[any(n)] : (__u32)number();
}

/* Operations on the ring's pages. */
static void disturb_ring(void)
{
	char *page = (char *)ring.page + any((unsigned int)(ring.size / PAGE)) * PAGE;
	struct pollfd poll_loop = { .fd = loop.fd, .events = POLLIN };

	switch (any(7)) {
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
		read_fdinfo(loop.fd);
		break;
	case 5:
		discard_entries();
		break;
	default:
		scribble();
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

/* Fill a socket, so that sends wait, and let others receive what is in it. */
static void send_and_drain(int fd)
{
	char *bytes = arena + (1 + any(PAGES - 2)) * PAGE;
	unsigned int times = 1 + any(4);
	struct cosy_ring_entry entry;

	fill_socket(fd, bytes);
	while (times--) {
		entry = send_to(fd);
		if (any(4)) {
			entry.flags = 0;
			entry.op = (__u64)fd;
			entry.args[3] = 0;
		}
		write_entry(ring.calls, &ring.page->calls_tail, &entry);
	}
	enter_ring();
	if (any(4))
		empty_socket(peer_of(fd), bytes);
	if (!any(4))
		cancel(fd);
	enter_ring();
}

/* Receives take buffers, some of which are there when the data comes. */
static void take_buffers(int fd)
{
	struct cosy_ring_entry entry = { .nr = COSY_RING_RECEIVE, .op = (__u64)fd,
					 .args = { (__u64)fd } };

	provide_buffers();
	if (any(2))
		feed(fd);
	write_entry(ring.receives, &ring.page->receives_tail, &entry);
	enter_ring();
	if (!any(3))
		provide_buffers();
	feed(fd);
	enter_ring();
}

static void use_ring(void)
{
	unsigned int steps = 1 + any(16);

	while (steps--) {
		switch (any(16)) {
		case 0:
			disturb_ring();
			break;
		case 1:
		case 2:
			disturb_sockets();
			break;
		case 12:
			write_reply(waiting_fd());
			break;
		case 13:
			cancel(waiting_fd());
			break;
		case 14:
			send_and_drain(waiting_fd());
			break;
		case 15:
			take_buffers(waiting_fd());
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
