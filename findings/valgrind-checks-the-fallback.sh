#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# valgrind 3.19 of Debian 12 answers ENOSYS to calls that Debian 12's kernel has had for years: openat2
# (Linux 5.6) and epoll_pwait2 (5.11). It knows close_range (5.9) and faccessat2 (5.8), which are not older.
# So a program that asks for openat2() and falls back to openat() is checked with its fallback, and never
# with the code that runs natively. A file server that resolves names below its root by openat2() alone
# serves nothing under valgrind.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack valgrind=1:3.19.0-1
cat >calls.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(const char *name, long result)
{
	printf("%s %s\n", name, result >= 0 ? "works" : strerrorname_np(errno));
}

int main(void)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };
	struct timespec none = { 0 };
	struct epoll_event event;
	int epoll = epoll_create1(0);

	say("openat2", syscall(SYS_openat2, AT_FDCWD, "calls.c", &how, sizeof(how)));
	say("epoll_pwait2", syscall(SYS_epoll_pwait2, epoll, &event, 1, &none, NULL, 0));
	say("close_range", syscall(SYS_close_range, 900, 1000, 0));
	say("faccessat2", syscall(SYS_faccessat2, AT_FDCWD, "calls.c", R_OK, 0));
	return 0;
}
END
cc -o calls calls.c
expect "natively" "openat2 works, epoll_pwait2 works, close_range works, faccessat2 works" \
	"$(./calls | paste -sd, | sed 's/,/, /g')"
seen=$(VALGRIND_LIB=$folder/root/usr/libexec/valgrind valgrind -q ./calls 2>messages | paste -sd, | sed 's/,/, /g')
expect "under valgrind 3.19" \
	"openat2 ENOSYS, epoll_pwait2 ENOSYS, close_range works, faccessat2 works" "$seen"
expect "valgrind says so" yes "$(grep -q 'unhandled amd64-linux syscall: 437' messages && echo yes || echo no)"
