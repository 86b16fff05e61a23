#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# glibc 2.36 and POSIX's asynchronous I/O: of the requests for one file descriptor, only one is executed at a time, in order. So
# while an aio_read() waits for a socket's peer, an aio_write() to the same socket is not begun: it stays EINPROGRESS
# although there is room, and a client that reads ahead never sends its question. The same write by a descriptor
# that dup() has returned for the same socket completes at once, and so does one that comes before the read. aio(7) and
# aio_read(3) do not say so; comments below an article of LWN (417642) mention it as a cost for files.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack libc6=2.36-9+deb12u14
cat >requests.c <<'END'
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *state(struct aiocb *request)
{
	const struct aiocb *list[] = { request };
	struct timespec limit = { .tv_nsec = 500000000 };

	aio_suspend(list, 1, &limit);
	return aio_error(request) == EINPROGRESS ? "waits" : "done";
}

/* Read from one end of a pair and write to it, in one order or the other, before the other end writes. */
static void ask(const char *name, bool write_first, bool other_descriptor)
{
	char byte = 0, question = '?', answer = '!';
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);

	struct aiocb reader = { .aio_fildes = pair[0], .aio_buf = &byte, .aio_nbytes = 1 };
	struct aiocb writer = { .aio_fildes = other_descriptor ? dup(pair[0]) : pair[0],
				.aio_buf = &question, .aio_nbytes = 1 };

	if (write_first)
		aio_write(&writer);
	aio_read(&reader);
	if (!write_first)
		aio_write(&writer);
	printf("%s: write %s, ", name, state(&writer));
	write(pair[1], &answer, 1);
	printf("after the answer: read %s, ", state(&reader));
	printf("write %s\n", state(&writer));
}

int main(void)
{
	ask("read, write", false, false);
	ask("read, write by dup", false, true);
	ask("write, read", true, false);
	return 0;
}
END
cc -Wall -Wno-unused-result -o requests requests.c
./requests >seen

# seen NAME - print what was seen.
seen() {
	sed -n "s/^$1: //p" seen
}

expect "the unpacked libc is used" yes "$(ldd requests | grep -qF "$folder/root/" && echo yes || echo no)"
expect "read, write" "write waits, after the answer: read done, write done" "$(seen "read, write")"
expect "read, write by dup" "write done, after the answer: read done, write done" "$(seen "read, write by dup")"
expect "write, read" "write done, after the answer: read done, write done" "$(seen "write, read")"
