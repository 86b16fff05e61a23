/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * entries.h - common code of the tests of a loop's entries: pairs of sockets, and the device.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "../../../kernel/loop.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* A connected pair of the kind under test. */
static inline int pair(int kind, int sv[2])
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(addr);
	int listener;

	if (kind < 3) {
		static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };

		return socketpair(AF_UNIX, types[kind], 0, sv);
	}
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&addr, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&addr, &size))
		return -1;
	sv[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(sv[1], (void *)&addr, size))
		return -1;
	sv[0] = accept(listener, NULL, NULL);
	close(listener);
	return 0;
}

#endif /* ENTRIES_H */
