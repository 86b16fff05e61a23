#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linux 6.1.192 of Debian 12, liburing 2.3, and a socket or a pipe whose other end is closed: all writes by
# io_uring complete with -EPIPE. Whether SIGPIPE comes, too, depends on the operation, the file, and the thread of the kernel
# that makes the write. A write to a socket that the submitting thread makes at once raises it; one that a worker makes
# (IOSQE_ASYNC) does not. A write to a pipe raises it in neither case; on 6.18 it does if it is made at once. send and
# sendmsg never do, because io_uring adds MSG_NOSIGNAL. So with io_uring in place of write() a program gets SIGPIPE, or not,
# by chance. The kernel of this machine is tried, too, if that is another one.
#
# The kernel boots in QEMU, with the program below as its only process. Besides what README.md says, this
# needs qemu-system-x86, cpio and gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack linux-image-6.1.0-57-amd64=6.1.192-3 liburing-dev=2.3-3
mkdir tree
cat >signals.c <<'END'
#include <liburing.h>
#include <signal.h>
#include <stdio.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void handle(int number)
{
	(void)number;
	signals++;
}

enum operation { SEND, SENDMSG, WRITE };

/* Return whether there is a signal when the operation is executed by the thread that submits it, or by a worker. */
static const char *result(struct io_uring *ring, enum operation operation, int fd, int flags)
{
	struct iovec part = { .iov_base = "x", .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct io_uring_sqe *entry = io_uring_get_sqe(ring);
	struct io_uring_cqe *completion;
	int code;

	signals = 0;
	if (operation == SEND)
		io_uring_prep_send(entry, fd, "x", 1, 0);
	else if (operation == SENDMSG)
		io_uring_prep_sendmsg(entry, fd, &message, 0);
	else
		io_uring_prep_write(entry, fd, "x", 1, 0);
	entry->flags |= flags;
	io_uring_submit(ring);
	while (io_uring_wait_cqe(ring, &completion))
		;
	code = completion->res;
	io_uring_cqe_seen(ring, completion);
	usleep(20000);
	return code != -EPIPE ? "no EPIPE" : signals ? "signal" : "none";
}

static void results(struct io_uring *ring, const char *name, enum operation operation, int fd)
{
	printf("%s: %s, ", name, result(ring, operation, fd, 0));
	printf("%s\n", result(ring, operation, fd, IOSQE_ASYNC));
}

int main(void)
{
	struct io_uring ring;
	struct utsname name;
	int pair[2], ends[2];

	uname(&name);
	printf("release %s\n", name.release);
	signal(SIGPIPE, handle);
	if (io_uring_queue_init(8, &ring, 0))
		return 1;
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	close(pair[1]);
	if (pipe(ends))
		return 1;
	close(ends[0]);
	results(&ring, "send", SEND, pair[0]);
	results(&ring, "sendmsg", SENDMSG, pair[0]);
	results(&ring, "write to a socket", WRITE, pair[0]);
	results(&ring, "write to a pipe", WRITE, ends[1]);
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_AUTOBOOT);
	return 0;
}
END
gcc -O1 -Wall -static -Iroot/usr/include -o tree/init signals.c root/usr/lib/x86_64-linux-gnu/liburing.a
boot 6.1.0-57-amd64
for line in "send: none, none" "sendmsg: none, none" "write to a socket: signal, none" "write to a pipe: none, none"; do
	expect "at once, by a worker: ${line%%:*}" "${line#*: }" "$(sed -n "s/^${line%%:*}: //p" vm)"
done
# It may refuse io_uring.
if [[ $(uname -r) != 6.1.0-57-amd64 ]] && tree/init >here; then
	paste -sd ";" here | sed 's/^release /on /; s/;/; /g'
fi
