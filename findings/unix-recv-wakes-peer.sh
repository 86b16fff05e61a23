#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linux 6.1.192 of Debian 12: a process that is blocked in recv() on a unix stream socket is woken,
# and sleeps again, each time that the process at the other end *reads* something. The reader frees
# room; that wakes all who sleep on the sender's socket, also those who wait for data only. So a
# server that reads a request wakes the client that waits for the answer: two switches for nothing.
# Sequenced-packet sockets do not, and neither does TCP. The kernel of this machine is tried, too, if
# that is another one: 6.12.117 and 6.18.44 do the same.
#
# The kernel boots in QEMU, with the program below as its only process. Besides what README.md says, this
# needs qemu-system-x86, cpio and gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack linux-image-6.1.0-57-amd64=6.1.192-3
mkdir tree
cat >wakes.c <<'END'
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUESTS 50

static void field(pid_t pid, const char *file, char *text, int size)
{
	char path[64];
	int fd, n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY);
	n = read(fd, text, size - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd);
}

static void until_asleep(pid_t pid)
{
	char text[512] = ") R";

	while (strrchr(text, ')')[2] != 'S') {
		usleep(1000);
		field(pid, "stat", text, sizeof(text));
	}
}

static long sleeps(pid_t pid)
{
	char text[4096];
	long n = -1;

	field(pid, "status", text, sizeof(text));
	sscanf(strstr(text, "\nvoluntary_ctxt_switches:"), "\nvoluntary_ctxt_switches: %ld", &n);
	return n;
}

/* Return how often a client is woken while its requests are read and nothing is answered. */
static long wakes(int client, int server)
{
	char byte = 1;
	long before, after;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < REQUESTS; i++)
			send(client, &byte, 1, 0);
		recv(client, &byte, 1, 0);
		_exit(0);
	}
	until_asleep(pid);
	before = sleeps(pid);
	for (int i = 0; i < REQUESTS; i++) {
		recv(server, &byte, 1, 0);
		usleep(2000);
		until_asleep(pid);
	}
	after = sleeps(pid);
	send(server, &byte, 1, 0);
	waitpid(pid, NULL, 0);
	return after - before;
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	struct utsname name;
	int pair[2], listener, client;

	if (getpid() == 1) {
		mkdir("/proc", 0755);
		mount("proc", "/proc", "proc", 0, NULL);
	}
	uname(&name);
	printf("release %s\n", name.release);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	printf("stream %ld\n", wakes(pair[0], pair[1]));
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	printf("seqpacket %ld\n", wakes(pair[0], pair[1]));
	/* The VM has no loopback device that is up. */
	if (getpid() != 1) {
		listener = socket(AF_INET, SOCK_STREAM, 0);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		bind(listener, (struct sockaddr *)&address, size);
		listen(listener, 1);
		getsockname(listener, (struct sockaddr *)&address, &size);
		client = socket(AF_INET, SOCK_STREAM, 0);
		connect(client, (struct sockaddr *)&address, size);
		printf("tcp %ld\n", wakes(client, accept(listener, NULL, NULL)));
	}
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_AUTOBOOT);
	return 0;
}
END
gcc -O1 -static -o tree/init wakes.c
boot 6.1.0-57-amd64
expect "wakes by 50 reads, unix stream" 50 "$(sed -n 's/^stream //p' vm)"
expect "wakes by 50 reads, unix seqpacket" 0 "$(sed -n 's/^seqpacket //p' vm)"
if [[ $(uname -r) != 6.1.0-57-amd64 ]]; then
	tree/init >here
	echo "on $(sed -n 's/^release //p' here): $(grep -v release here | paste -sd ' ')"
fi
expect "wakes by 50 reads, TCP, this machine" 0 "$(tree/init | sed -n 's/^tcp //p')"
