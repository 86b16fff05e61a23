// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Calls of a ring that wait for their socket: messages, connections, addresses, and sends without
 * room. Each completes once, with the result of the blocking call; or it is given back, in order, and
 * says that it has waited.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/ring.h"

#include <netinet/in.h>
#include <signal.h>

static struct ring ring;

/* Write a receive with any call. */
static void receive(uint64_t op, uint32_t nr, int fd, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		    uint64_t f)
{
	ring.receives[ring.receives_tail++ % ring.loop.n] = (struct cosy_ring_entry){
		.nr = nr, .op = op, .args = { (unsigned int)fd, b, c, d, e, f },
	};
	__atomic_store_n(&ring.page->receives_tail, ring.receives_tail, __ATOMIC_RELEASE);
}

/* Execute, and return true if nothing completes or is given back, and @n calls wait. */
static bool waits(unsigned int n)
{
	return ring_execute(&ring) == 0 && !ring.page->ngiven && ring.page->waiting == n;
}

static void messages(void)
{
	char text[8] = "", control[64];
	struct iovec pieces[] = { { text, 2 }, { text + 2, 4 } };
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2, .msg_control = control,
				  .msg_controllen = sizeof(control), .msg_flags = ~0 };
	unsigned int waited = 0, at_once = 0;
	int sv[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	for (int i = 0; i < 10; i++) {
		message.msg_controllen = sizeof(control);
		receive(1, SYS_recvmsg, sv[0], (uintptr_t)&message, 0, 0, 0, 0);
		waited += waits(1) && send(sv[1], "abcdef", 6, 0) == 6 && ring_completes(&ring, 1, 6) &&
			  !memcmp(text, "abcdef", 6) && !message.msg_flags && !message.msg_controllen;
		memset(text, 0, sizeof(text));
		send(sv[1], "gh", 2, 0);
		receive(2, SYS_recvmsg, sv[0], (uintptr_t)&message, 0, 0, 0, 0);
		at_once += ring_completes(&ring, 2, 2) && !memcmp(text, "gh", 2);
	}
	check(waited == 10,
	      "recvmsg without data waits, and then receives 6 bytes, 10 times: %u", waited);
	check(at_once == 10, "recvmsg with data receives 2 bytes at once, 10 times: %u", at_once);
	receive(3, SYS_recvmsg, sv[0], (uintptr_t)&message, 0, 0, 0, 0);
	check(waits(1), "recvmsg waits: nothing completes or is given back");
	message.msg_iov = (void *)8;
	send(sv[1], "i", 1, 0);
	check(ring_completes(&ring, 3, -EFAULT),
	      "EFAULT: the message is read again when the call is made");
	message.msg_iov = pieces;
	receive(4, SYS_recvmsg, sv[0], 8, 0, 0, 0, 0);
	check(ring_completes(&ring, 4, -EFAULT), "a wrong message fails at once");
	for (int flag = 1; flag; flag <<= 1) {
		if (!(flag & COSY_RING_RECEIVE_UNUSUAL))
			continue;
		receive(5, SYS_recvmsg, sv[0], (uintptr_t)&message, (unsigned int)flag, 0, 0, 0);
		check(ring_execute(&ring) == 0 && ring_gave(&ring, 5, SYS_recvmsg, 0),
		      "the flags %#x are given back", flag);
	}
	ring_call(&ring, 6, SYS_sendmsg, (unsigned int)sv[1], (uintptr_t)&message, 0, 0);
	check(ring_completes(&ring, 6, 6), "sendmsg sends 6 bytes at once");
	ring_call(&ring, 7, SYS_sendmsg, (unsigned int)sv[1], (uintptr_t)&message, MSG_DONTWAIT, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 7, SYS_sendmsg, 0),
	      "sendmsg with MSG_DONTWAIT is given back");
	ring_call(&ring, 8, SYS_recvmsg, (unsigned int)sv[0], (uintptr_t)&message, 0, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 8, SYS_recvmsg, 0),
	      "among the calls, a receive is given back");
	recv(sv[0], text, 7, 0);
	receive(9, SYS_recvmsg, sv[0], (uintptr_t)&message, 0, 0, 0, 0);
	receive(10, SYS_recvfrom, sv[0], (uintptr_t)text, 1, 0, 0, 0);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 &&
	      ring.page->given[0].nr == SYS_recvmsg && ring.page->given[0].flags == COSY_RING_WAITED &&
	      ring.page->given[1].nr == SYS_recvfrom && ring.page->given[1].flags == 0,
	      "two of different kinds are given back in order");
	close(sv[0]);
	close(sv[1]);
}

static void datagrams(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in from = { 0 };
	socklen_t size = sizeof(addr), length = sizeof(from);
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	char byte = 0;

	check(!bind(a, (void *)&addr, size) && !getsockname(a, (void *)&addr, &size),
	      "the datagram socket is bound to a free port");
	receive(1, SYS_recvfrom, a, (uintptr_t)&byte, 1, 0, (uintptr_t)&from, (uintptr_t)&length);
	check(waits(1), "a receive with an address waits");
	ring.calls[ring.calls_tail++ % ring.loop.n] = (struct cosy_ring_entry){
		.nr = SYS_sendto, .op = 2,
		.args = { (unsigned int)b, (uintptr_t)"x", 1, 0, (uintptr_t)&addr, sizeof(addr) },
	};
	__atomic_store_n(&ring.page->calls_tail, ring.calls_tail, __ATOMIC_RELEASE);
	check(ring_execute(&ring) == 2 && byte == 'x' && from.sin_family == AF_INET &&
	      length == sizeof(from), "a datagram is sent to an address, and tells its own");
	ring.head = ring.page->done_tail;
	receive(3, SYS_recvfrom, a, (uintptr_t)&byte, 1, 0, 8, (uintptr_t)&length);
	send(b, "", 0, 0);
	connect(b, (void *)&addr, sizeof(addr));
	send(b, "y", 1, 0);
	check(ring_completes(&ring, 3, -EFAULT), "EFAULT: the buffer of the address is unmapped");
	receive(4, SYS_recvfrom, a, (uintptr_t)&byte, 1, 0, 0, 0);
	check(waits(1), "a receive without data waits: nothing completes or is given back");
	shutdown(a, SHUT_RD);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 4, SYS_recvfrom, COSY_RING_WAITED),
	      "the process ends a receive of a socket that is shut down");
	close(a);
	close(b);
}

static void connections(int domain)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage peer;
	socklen_t size = domain == AF_INET ? sizeof(addr) : sizeof(sa_family_t), length;
	int listener = socket(domain, SOCK_STREAM, 0), client;
	struct sockaddr_storage name = { .ss_family = AF_UNIX };
	unsigned int waited = 0, accepted = 0;
	long long fd = -1;

	if (domain == AF_INET)
		memcpy(&name, &addr, sizeof(addr));
	check(!bind(listener, (void *)&name, size) && !listen(listener, 8), "the listener listens");
	size = sizeof(name);
	getsockname(listener, (void *)&name, &size);
	for (int i = 0; i < 8; i++) {
		length = sizeof(peer);
		if (i % 2)
			receive(1, SYS_accept, listener, (uintptr_t)&peer, (uintptr_t)&length, 0, 0, 0);
		else
			receive(1, SYS_accept4, listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
		if (i % 4 < 2)
			waited += waits(1);
		client = socket(domain, SOCK_STREAM, 0);
		connect(client, (void *)&name, size);
		accepted += ring_execute(&ring) == 1 && ring_collect(&ring, &fd) == 1 && fd >= 0 &&
			    !!(fcntl((int)fd, F_GETFL) & O_NONBLOCK) != i % 2 &&
			    (i % 2 == 0 || peer.ss_family == domain);
		close((int)fd);
		close(client);
	}
	check(waited == 4, "accept without a connection waits, 4 times: %u", waited);
	check(accepted == 8,
	      "accept has the flags and the address that were asked for, 8 times: %u", accepted);
	receive(2, SYS_accept4, listener, 0, 0, 1, 0, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 2, SYS_accept4, 0),
	      "accept4 with unknown flags is given back");
	client = socket(domain, SOCK_STREAM, 0);
	receive(3, SYS_accept, client, 0, 0, 0, 0, 0);
	check(ring_completes(&ring, 3, -EINVAL), "EINVAL: the socket does not listen");
	receive(4, SYS_accept, 1000, 0, 0, 0, 0, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 4, SYS_accept, 0),
	      "accept of a number that is no descriptor is given back");
	receive(5, SYS_accept, listener, 0, 0, 0, 0, 0);
	check(waits(1), "accept waits: nothing completes or is given back");
	shutdown(listener, SHUT_RD);
	ring_execute(&ring);
	if (domain == AF_UNIX)
		check(ring_gave(&ring, 5, SYS_accept, COSY_RING_WAITED),
		      "accept is given back when its listener is shut down");
	else
		check(ring_collect(&ring, &fd) == 5 && fd == -EINVAL,
		      "EINVAL: the listener of a waiting accept is shut down");
	close(client);
	close(listener);
}

/* A socket without room for what is sent. */
static void fill(int *sv)
{
	const int small = 1;
	static char many[4096];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	setsockopt(sv[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	while (send(sv[0], many, sizeof(many), MSG_DONTWAIT) > 0)
		;
	while (send(sv[0], many, 1, MSG_DONTWAIT) > 0)
		;
}

static void drain(int fd)
{
	char many[4096];

	while (recv(fd, many, sizeof(many), MSG_DONTWAIT) > 0)
		;
}

static void send_byte(uint64_t op, int fd, char *byte)
{
	ring_call(&ring, op, SYS_sendto, (unsigned int)fd, (uintptr_t)byte, 1, MSG_NOSIGNAL);
}

/* A message of one byte. */
static struct iovec piece = { "m", 1 };
static struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

static void sending(void)
{
	char byte = 0;
	int sv[2], other[2];

	fill(sv);
	for (int i = 0; i < 4; i++) {
		if (i % 2)
			ring_call(&ring, 1, SYS_sendmsg, (unsigned int)sv[0], (uintptr_t)&message, 0, 0);
		else
			send_byte(1, sv[0], "s");
		check(waits(1) && ring.page->sending == 1 && !readable(ring.loop.fd),
		      "a send without room waits");
		socketpair(AF_UNIX, SOCK_STREAM, 0, other);
		send_byte(2, other[0], "o");
		check(ring_completes(&ring, 2, 1), "a send of another socket completes meanwhile");
		close(other[0]);
		close(other[1]);
		drain(sv[1]);
		check(readable(ring.loop.fd) && ring_completes(&ring, 1, 1) && !ring.page->sending,
		      "with room, the loop is readable, and the send completes");
		check(recv(sv[1], &byte, 1, MSG_DONTWAIT) == 1 && byte == (i % 2 ? 'm' : 's') &&
		      recv(sv[1], &byte, 1, MSG_DONTWAIT) == -1, "the byte has arrived, once");
		close(sv[0]);
		close(sv[1]);
		fill(sv);
	}
	close(sv[0]);
	close(sv[1]);
}

static void not_sent(void)
{
	static char large[1 << 20];
	char byte = 0;
	int sv[2], other[2], fd;

	fill(sv);
	send_byte(3, sv[0], "t");
	ring_call(&ring, 4, SYS_sendmsg, (unsigned int)sv[0], (uintptr_t)&message, 0, 0);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 && ring.page->given[0].op == 3 &&
	      ring.page->given[0].flags == COSY_RING_WAITED && ring.page->given[1].op == 4 &&
	      ring.page->given[1].nr == SYS_sendmsg && !ring.page->waiting,
	      "two sends of a descriptor are given back in order");
	send_byte(5, sv[0], "t");
	check(waits(1), "a send without room waits: nothing completes or is given back");
	ring.calls[ring.calls_tail++ % 64] = (struct cosy_ring_entry){
		.nr = SYS_sendto, .flags = COSY_RING_LINKED, .op = 6,
		.args = { (unsigned int)sv[0], (uintptr_t)"u", 1 },
	};
	__atomic_store_n(&ring.page->calls_tail, ring.calls_tail, __ATOMIC_RELEASE);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 2 && ring.page->given[1].op == 6 &&
	      ring.page->given[1].flags == 0,
	      "a reply gives both sends back, its own without COSY_RING_WAITED");
	ring_call(&ring, 7, SYS_sendto, (unsigned int)sv[0], (uintptr_t)large, sizeof(large), 0);
	check(waits(1), "a send of 1 MiB waits");
	drain(sv[1]);
	check(ring_execute(&ring) == 0 && ring.page->ngiven == 1 && ring.page->given->op == 7 &&
	      ring.page->given->flags > 0 && ring.page->given->flags < sizeof(large),
	      "with room for a part, it is given back with the number of bytes sent");
	close(sv[0]);
	close(sv[1]);

	for (int i = 0; i < 3; i++) {
		fill(sv);
		send_byte(8, sv[0], "v");
		check(waits(1), "a send waits before its connection ends");
		if (i == 0)
			close(sv[1]);
		else if (i == 1)
			shutdown(sv[1], SHUT_RD);
		else
			shutdown(sv[0], SHUT_WR);
		check(ring_completes(&ring, 8, i ? -EPIPE : -ECONNRESET), "%s: %s",
		      i ? "EPIPE" : "ECONNRESET",
		      i == 0 ? "the peer closes" : i == 1 ? "the peer shuts down" : "the sender shuts down");
		close(sv[0]);
		close(sv[1]);
	}

	/* The descriptor becomes another file's. */
	fill(sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	send_byte(9, sv[0], "w");
	check(waits(1), "a send waits before its descriptor is replaced");
	fd = dup(sv[0]);
	dup2(other[0], sv[0]);
	drain(sv[1]);
	check(ring_completes(&ring, 9, -ECANCELED) && recv(other[1], &byte, 1, MSG_DONTWAIT) == -1,
	      "ECANCELED: the descriptor is another socket's, and nothing is sent to that");
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(sv[i]);
		close(other[i]);
	}
	check(waits(0), "no operation is left");
}

/* As a number, the size is an error. */
static void sizes(void)
{
	int sv[2];

	fill(sv);
	ring_call(&ring, 1, SYS_sendto, (unsigned int)sv[0], (uintptr_t)"s", (uint64_t)-EAGAIN, 0);
	check(waits(1) && ring.page->sending == 1,
	      "a send of 2^64 - EAGAIN bytes without room waits");
	ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, 1, 0, 0);
	check(waits(0), "it is cancelled");
	close(sv[1]);
	/* Takes the error of the peer's data that was not received. */
	send(sv[0], "s", 1, MSG_NOSIGNAL);
	ring.calls[ring.calls_tail++ % 64] = (struct cosy_ring_entry){
		.nr = SYS_sendto, .flags = COSY_RING_LINKED, .op = 2,
		.args = { (unsigned int)sv[0], (uintptr_t)"s", (uint64_t)-EPIPE, MSG_NOSIGNAL },
	};
	__atomic_store_n(&ring.page->calls_tail, ring.calls_tail, __ATOMIC_RELEASE);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, 2, SYS_sendto, (uint32_t)-EPIPE),
	      "the send of a reply, of 2^64 - EPIPE bytes, is given back with its error");
	close(sv[0]);
}

static void cancelling(void)
{
	int sv[2], other[2];
	char byte = 0;

	fill(sv);
	fill(other);
	send_byte(1, sv[0], "a");
	send_byte(2, other[0], "b");
	check(waits(2) && ring.page->sending == 2, "two sends wait");
	ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, 3, 0, 0);
	check(waits(2), "COSY_RING_CANCEL_SEND of an operation that does not wait does nothing");
	ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, 1, 0, 0);
	check(waits(1), "COSY_RING_CANCEL_SEND ends one of two sends");
	drain(sv[1]);
	check(waits(1) && recv(sv[1], &byte, 1, MSG_DONTWAIT) == -1,
	      "with room, the cancelled send is not made");
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)other[0]) ==
		      (long long)(COSY_ASYNC_ENTERED | 1) &&
	      ring_gave(&ring, 2, SYS_sendto, COSY_RING_WAITED) && !ring.page->waiting,
	      "COSY_ASYNC_CANCEL_FD gives the other send back");
	send_byte(4, other[0], "c");
	receive(5, SYS_recvfrom, other[0], (uintptr_t)&byte, 1, 0, 0, 0);
	check(waits(2), "a send and a receive of one descriptor wait");
	check(ring_command(&ring, COSY_ASYNC_CANCEL) == (long long)(COSY_ASYNC_ENTERED | 2) &&
	      ring.page->calls_head + 1 == ring.calls_tail &&
	      ring.page->receives_head + 1 == ring.receives_tail && !ring.page->sending &&
	      ring.calls[ring.page->calls_head % 64].op == 4 &&
	      ring.calls[ring.page->calls_head % 64].nr == SYS_sendto &&
	      ring.calls[ring.page->calls_head % 64].args[0] == (unsigned int)other[0],
	      "COSY_ASYNC_CANCEL puts both back into their rings");
	check(waits(2), "executed again, both wait");
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)other[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 2) && ring.page->given[0].op == 5 &&
	      ring.page->given[1].op == 4, "COSY_ASYNC_CANCEL_FD gives both back");

	/* The process has completed what it cancels: neither command may give it back. */
	send_byte(6, other[0], "d");
	receive(7, SYS_recvfrom, other[0], (uintptr_t)&byte, 1, 0, 0, 0);
	check(waits(2), "a send and a receive wait, to be cancelled");
	ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, 6, 0, 0);
	ring_call(&ring, 0, COSY_RING_CANCEL, (unsigned int)other[0], 7, 0, 0);
	check(ring_command(&ring, COSY_ASYNC_CANCEL_FD | (unsigned int)other[0]) ==
	      (long long)COSY_ASYNC_ENTERED && !ring.page->ngiven,
	      "COSY_ASYNC_CANCEL_FD gives back no cancelled call");
	check(waits(0), "neither waits any longer");
	send_byte(8, other[0], "e");
	receive(9, SYS_recvfrom, other[0], (uintptr_t)&byte, 1, 0, 0, 0);
	check(waits(2), "a send and a receive wait, to be cancelled");
	ring_call(&ring, 0, COSY_RING_CANCEL_SEND, 0, 8, 0, 0);
	ring_call(&ring, 0, COSY_RING_CANCEL, (unsigned int)other[0], 9, 0, 0);
	check(ring_command(&ring, COSY_ASYNC_CANCEL) == (long long)COSY_ASYNC_ENTERED,
	      "COSY_ASYNC_CANCEL puts back no cancelled call");
	check(waits(0), "neither waits any longer");
	for (int i = 0; i < 2; i++) {
		close(sv[i]);
		close(other[i]);
	}
}

int main(void)
{
	device = open_device();
	signal(SIGPIPE, SIG_IGN);
	ring_create(&ring, 64);
	messages();
	datagrams();
	connections(AF_INET);
	connections(AF_UNIX);
	sending();
	not_sent();
	sizes();
	cancelling();
	ring_destroy(&ring);
	return finish();
}
