#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# musl 1.2.3 on a 64-bit machine, and descriptors that sendmsg() sends to another process (SCM_RIGHTS): unix(7) says that a
# message may have 253, and that more are EINVAL. With musl, 253 descriptors fail with ENOMEM, and no system call is made. Its
# sendmsg() copies the control data into a buffer on the stack, and refuses more than 1,024 bytes, which is 252 descriptors.
# So a program that sends as many as the kernel takes works with glibc 2.36, and with musl fails when it
# has that many, with an error that asks it to try again later. sendmsg(2) and musl's documentation name no such
# limit, and nothing was found about it.
#
# Besides what README.md says, this needs gcc and the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack musl-dev=1.2.3-1
cat >rights.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAXIMUM = 254 };

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0, pair[2];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(MAXIMUM * sizeof(int))] = { 0 };
	char byte = 'x';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control };
	struct cmsghdr *header;

	if (count < 1 || count > MAXIMUM || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (int i = 0; i < count; i++)
		((int *)CMSG_DATA(header))[i] = pair[0];
	if (sendmsg(pair[0], &message, 0) == 1)
		puts("sent");
	else
		puts(errno == ENOMEM ? "ENOMEM" : errno == EINVAL ? "EINVAL" : "another error");
	return 0;
}
END
compile_twice rights.c

# sent LIBC COUNT - send so many descriptors, and print the result and how many system calls were made for it.
sent() {
	local result
	result=$(strace -qq -e trace=sendmsg -o trace "./with-$1" "$2")
	echo "$result, calls $(calls '^sendmsg')"
}

while read -r count glibc musl; do
	expect "glibc, $count descriptors" "${glibc/,/, calls }" "$(sent glibc "$count")"
	expect "musl, $count descriptors" "${musl/,/, calls }" "$(sent musl "$count")"
done <<'END'
252 sent,1 sent,1
253 sent,1 ENOMEM,0
254 EINVAL,1 ENOMEM,0
END
