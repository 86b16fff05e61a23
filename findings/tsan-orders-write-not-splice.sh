#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# clang 19.1.7, ThreadSanitizer, and a thread that changes a variable and then signals another by a file descriptor. What
# follows a read() comes after what precedes the write(), and ThreadSanitizer knows that. It does not know it of other
# calls that transfer or wait in the same way, and so reports a data race that is none:
# - A pipe that is written by splice(), vmsplice() or sendfile(), or read by splice() or tee(). So a program that is changed
#   to copy less gets reports of races.
# - An eventfd for which poll() waits. With epoll_wait() and epoll_pwait2(), on the same eventfd, nothing is reported.
# - The end of a pipe or a socket, by close() or shutdown(), as read() and recv() see it.
# clang's manual of ThreadSanitizer has a list of limitations, and says nothing about descriptors; a comment in its run-time
# library says that I/O synchronizes. Reports were found about calls by syscall(), and none about these functions.
#
# The second thread is blocked until the first one signals, so the results do not depend on time.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

llvm=1:19.1.7-3~deb12u1
unpack clang-19=$llvm libclang-cpp19=$llvm libllvm19=$llvm libclang-common-19-dev=$llvm libclang-rt-19-dev=$llvm
cat >signal.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *sender, *receiver;
static int ends[2], other[2], sockets[2], event, epoll, variable;

static int is(const char *name, const char *wanted)
{
	return !strcmp(name, wanted);
}

static void *send_signal(void *unused)
{
	char byte = 'x';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };

	(void)unused;
	variable = 1;
	if (is(sender, "write"))
		write(ends[1], &byte, 1);
	else if (is(sender, "pwritev2"))
		pwritev2(ends[1], &part, 1, -1, 0);
	else if (is(sender, "splice"))
		splice(open("/proc/self/exe", O_RDONLY), NULL, ends[1], NULL, 1, 0);
	else if (is(sender, "vmsplice"))
		vmsplice(ends[1], &part, 1, 0);
	else if (is(sender, "sendfile"))
		sendfile(ends[1], open("/proc/self/exe", O_RDONLY), NULL, 1);
	else if (is(sender, "close"))
		close(ends[1]);
	else if (is(sender, "send"))
		send(sockets[1], &byte, 1, 0);
	else if (is(sender, "shutdown"))
		shutdown(sockets[1], SHUT_WR);
	else if (is(sender, "eventfd_write"))
		eventfd_write(event, 1);
	return NULL;
}

static void receive_signal(void)
{
	struct pollfd waited = { .fd = event, .events = POLLIN };
	struct epoll_event ready;
	eventfd_t count;
	char byte;

	if (is(receiver, "read"))
		read(ends[0], &byte, 1);
	else if (is(receiver, "splice"))
		splice(ends[0], NULL, other[1], NULL, 1, 0);
	else if (is(receiver, "tee"))
		tee(ends[0], other[1], 1, 0);
	else if (is(receiver, "recv"))
		recv(sockets[0], &byte, 1, 0);
	else if (is(receiver, "eventfd_read"))
		eventfd_read(event, &count);
	else if (is(receiver, "epoll_wait"))
		epoll_wait(epoll, &ready, 1, -1);
	else if (is(receiver, "epoll_pwait2"))
		epoll_pwait2(epoll, &ready, 1, NULL, NULL);
	else if (is(receiver, "poll"))
		poll(&waited, 1, -1);
}

int main(int argc, char **argv)
{
	struct epoll_event wanted = { .events = EPOLLIN };
	pthread_t thread;

	if (argc != 3 || pipe(ends) || pipe(other) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	sender = argv[1];
	receiver = argv[2];
	event = eventfd(0, 0);
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
	pthread_create(&thread, NULL, send_signal, NULL);
	receive_signal();
	if (variable++ != 1)
		return 2;
	pthread_join(thread, NULL);
	return 0;
}
END
clang-19 -O1 -g -w -fsanitize=thread signal.c -o signal

# report SENDER RECEIVER - run the program, and print what is reported about the variable.
report() {
	local code=0
	TSAN_OPTIONS=exitcode=66 ./signal "$1" "$2" 2>messages || code=$?
	case $code in
		0) echo nothing ;;
		66) grep -q "Location is global 'variable'" messages && echo "data race" ;;
		*) echo "code $code" ;;
	esac
}

while read -r sender receiver wanted; do
	expect "$sender, $receiver" "$wanted" "$(report "$sender" "$receiver")"
done <<'END'
write read nothing
pwritev2 read nothing
splice read data race
vmsplice read data race
sendfile read data race
write splice data race
write tee data race
close read data race
send recv nothing
shutdown recv data race
eventfd_write eventfd_read nothing
eventfd_write epoll_wait nothing
eventfd_write epoll_pwait2 nothing
eventfd_write poll data race
END
