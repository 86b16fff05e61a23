// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * An entry that would block waits for its socket, which can be polled through the loop. It completes
 * when there is data, room or a connection.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

static void waiting(void)
{
	static const char *const kinds[] = { "stream", "seqpacket", "dgram", "tcp" };
	struct loop loop;
	char byte = 0, other;
	int sv[2];

	create(&loop, 64);
	for (int kind = 0; kind < 4; kind++) {
		if (!check(!pair(kind, sv), "%s: a pair", kinds[kind]))
			continue;
		submit_recv(&loop, 7, sv[0], &byte);
		check(execute(&loop) == 0 && !readable(loop.fd), "%s: it waits", kinds[kind]);
		check(send(sv[1], "a", 1, 0) == 1 && readable(loop.fd), "%s: it is ready", kinds[kind]);
		check(execute(&loop) == 1 && readable(loop.fd) && collect(&loop) == 7 &&
		      entry_result(&loop, 7) == 1 && byte == 'a' && !readable(loop.fd),
		      "%s: it has received", kinds[kind]);
		submit_recv(&loop, 7, sv[0], &byte);
		execute(&loop);
		check(send(sv[1], "b", 1, 0) == 1 && recv(sv[0], &other, 1, 0) == 1 &&
		      execute(&loop) == 0 && !readable(loop.fd), "%s: another reader", kinds[kind]);
		check(send(sv[1], "c", 1, 0) == 1 && execute(&loop) == 1 && collect(&loop) == 7 &&
		      byte == 'c', "%s: then this one", kinds[kind]);
		submit_recv(&loop, 7, sv[0], &byte);
		execute(&loop);
		close(sv[1]);
		if (kind != 2)
			check(execute(&loop) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == 0,
			      "%s: the end", kinds[kind]);
		else
			check(enter_loop(&loop, COSY_ASYNC_CANCEL | 7) == (long long)COSY_ASYNC_ENTERED,
			      "%s: it waits for ever", kinds[kind]);
		close(sv[0]);
	}
	destroy(&loop);
}

static void sending(void)
{
	static char data[1 << 16];
	struct loop loop;
	int sv[2];
	ssize_t n;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	while (send(sv[0], data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	submit(&loop, 2, COSY_ENTRY_WAIT_OUT, SYS_sendto, sv[0], (uintptr_t)data, 1, MSG_DONTWAIT);
	check(execute(&loop) == 0 && !readable(loop.fd), "there is no room");
	while ((n = recv(sv[1], data, sizeof(data), MSG_DONTWAIT)) > 0)
		;
	check(readable(loop.fd) && execute(&loop) == 1 && collect(&loop) == 2 &&
	      entry_result(&loop, 2) == 1, "there is");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

static void accepting(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(addr);
	struct loop loops[2];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), client, done = 0;

	check(!bind(listener, (void *)&addr, size) && !listen(listener, 8) &&
	      !getsockname(listener, (void *)&addr, &size), "a listener");
	for (int i = 0; i < 2; i++) {
		create(&loops[i], 64);
		submit(&loops[i], 0, COSY_ENTRY_WAIT_IN, SYS_accept4, listener, 0, 0, 0);
		check(execute(&loops[i]) == 0, "accept waits");
	}
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(client, (void *)&addr, size), "connect");
	/* The cancelled one has not taken the connection from the other one. */
	enter_loop(&loops[0], COSY_ASYNC_CANCEL | 0);
	done = execute(&loops[1]);
	check(done == 1 && entry_result(&loops[1], 0) >= 0, "the other loop accepts");
	close((int)entry_result(&loops[1], 0));
	close(client);
	close(listener);
	destroy(&loops[0]);
	destroy(&loops[1]);
}

int main(void)
{
	device = open_device();
	waiting();
	sending();
	accepting();
	return finish();
}
