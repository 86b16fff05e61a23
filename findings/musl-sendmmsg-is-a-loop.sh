#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# musl 1.2.3 on a 64-bit machine: sendmmsg() makes no sendmmsg system call, but one sendmsg for each message. So a program that
# sends 32 datagrams by one call, to save system calls, makes 32 of them, although the kernel has sendmmsg; a test for
# the function when the program is configured finds it. recvmmsg() of the same library is one system call, and with
# glibc 2.36 both are. sendmmsg(2) says that one system call transmits all messages. A comment in
# musl's code gives the reason: the kernel's message header has other types than POSIX's. Nothing was found about
# it in musl's documentation.
#
# Besides what README.md says, this needs gcc and the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack musl-dev=1.2.3-1
cat >batch.c <<'END'
#define _GNU_SOURCE
#include <sys/socket.h>

enum { MESSAGES = 32 };

int main(void)
{
	struct mmsghdr messages[MESSAGES] = { 0 };
	char byte = 'x';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	int pair[2], size = 1 << 18;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return 1;
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	for (int i = 0; i < MESSAGES; i++) {
		messages[i].msg_hdr.msg_iov = &part;
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	if (sendmmsg(pair[0], messages, MESSAGES, 0) != MESSAGES)
		return 1;
	return recvmmsg(pair[1], messages, MESSAGES, 0, 0) != MESSAGES;
}
END
compile_twice batch.c

# made PROGRAM - run it, and print how many of each call it makes.
made() {
	traced sendmsg,sendmmsg,recvmsg,recvmmsg "./$1"
	sed -nE 's/^([0-9]+ +)?(send|recv)(m?msg)\(.*/\2\3/p' trace | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ,
}

expect "glibc, 32 messages" "1 recvmmsg,1 sendmmsg" "$(made with-glibc)"
expect "musl, 32 messages" "1 recvmmsg,32 sendmsg" "$(made with-musl)"
