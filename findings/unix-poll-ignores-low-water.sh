#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linux 6.1.192 of Debian 12, unix stream sockets, and SO_RCVLOWAT: recv() waits for as many bytes as the option says, but
# poll() and epoll say at the first byte that the socket is readable. So the next recv() blocks, until its timeout if there
# is one, although poll() promises that it does not. socket(7) says that poll() and epoll call a socket readable
# only if at least SO_RCVLOWAT bytes are there. On TCP that is so. The same fault of vsock was repaired in Linux 6.1, and
# TIPC had it, too; nothing was found about unix sockets. This machine's kernel is tried, too, if it is another
# one: 6.18.44 does the same.
#
# The kernel boots in QEMU, with the program below as its only process. Besides what README.md says, this
# needs qemu-system-x86, cpio and gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack linux-image-6.1.0-57-amd64=6.1.192-3
mkdir tree
cat >polls.c <<'END'
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Print what poll(), epoll and recv() say of one byte, where 10 are asked for. */
static void ask(const char *name, int from, int to)
{
	struct timeval limit = { .tv_usec = 400000 };
	struct pollfd polled = { .fd = to, .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec begin, end;
	int low_water = 10, epoll = epoll_create1(0), n;
	char bytes[100];
	double ms;

	setsockopt(to, SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof(low_water));
	setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	epoll_ctl(epoll, EPOLL_CTL_ADD, to, &event);
	send(from, "x", 1, 0);
	usleep(100000);
	printf("%s: poll %s, ", name, poll(&polled, 1, 0) == 1 ? "readable" : "not");
	printf("epoll %s, ", epoll_wait(epoll, &event, 1, 0) == 1 ? "readable" : "not");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	n = recv(to, bytes, sizeof(bytes), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - begin.tv_sec) * 1e3 + (end.tv_nsec - begin.tv_nsec) / 1e6;
	printf("recv %d %s\n", n, ms >= 300 ? "after its timeout" : "at once");
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &request);
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	struct utsname name;
	int pair[2], listener, client;

	if (getpid() == 1)
		loopback_up();
	uname(&name);
	printf("release %s\n", name.release);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	ask("unix", pair[0], pair[1]);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(listener, (struct sockaddr *)&address, size);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&address, &size);
	client = socket(AF_INET, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)&address, size);
	ask("tcp", client, accept(listener, NULL, NULL));
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_AUTOBOOT);
	return 0;
}
END
gcc -O1 -static -o tree/init polls.c
boot 6.1.0-57-amd64
expect "unix" "poll readable, epoll readable, recv 1 after its timeout" "$(sed -n 's/^unix: //p' vm)"
expect "tcp" "poll not, epoll not, recv 1 after its timeout" "$(sed -n 's/^tcp: //p' vm)"
if [[ $(uname -r) != 6.1.0-57-amd64 ]]; then
	tree/init | paste -sd ";" | sed 's/^release /on /; s/;/; /g'
fi
