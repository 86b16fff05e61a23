#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# libuv 1.44.2, by which Node.js accesses files: uv_fs_stat() and uv_fs_lstat() make their statx by glibc's syscall(), although
# glibc 2.36 has a function statx(). A preloaded library that defines statx(), stat() and lstat() sees none of these
# calls. One that defines syscall() sees each, but without the types of the arguments. libuv does refer to stat64() and
# lstat64(), but calls them only when the kernel answers ENOSYS to statx, so its list of undefined symbols misleads.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack libuv1=1.44.2-1+deb12u1 libuv1-dev=1.44.2-1+deb12u1
cat >status.c <<'END'
#include <uv.h>

int main(void)
{
	uv_fs_t request;

	for (int i = 0; i < 100; i++) {
		uv_fs_stat(uv_default_loop(), &request, "status.c", NULL);
		uv_fs_req_cleanup(&request);
		uv_fs_lstat(uv_default_loop(), &request, "status.c", NULL);
		uv_fs_req_cleanup(&request);
	}
	return 0;
}
END
cc -Wall -Iroot/usr/include -o status status.c root/usr/lib/x86_64-linux-gnu/libuv.so.1

# A library that counts the calls of libc's functions, and prints the counts at the end.
cat >library.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static int functions, syscalls;

#define STATUS(NAME) \
	int NAME(const char *name, void *status) \
	{ \
		int (*real)(const char *, void *) = dlsym(RTLD_NEXT, #NAME); \
		functions++; \
		return real(name, status); \
	}
STATUS(stat)
STATUS(stat64)
STATUS(lstat)
STATUS(lstat64)

int statx(int fd, const char *name, int flags, unsigned int mask, void *status)
{
	int (*real)(int, const char *, int, unsigned int, void *) = dlsym(RTLD_NEXT, "statx");

	functions++;
	return real(fd, name, flags, mask, status);
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_statx)
		syscalls++;
	return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

__attribute__((destructor)) static void end(void)
{
	printf("functions %d, syscall() %d\n", functions, syscalls);
}
END
cc -Wall -shared -fPIC -o library.so library.c

traced %file ./status
expect "statx calls" 200 "$(calls 'statx\(.*status\.c')"
expect "seen by the library" "functions 0, syscall() 200" "$(LD_PRELOAD=$folder/library.so ./status)"
# strace lets statx fail, as in a kernel without it.
expect "seen without statx" "functions 200, syscall() 1" \
	"$(strace -qq -o /dev/null -e inject=statx:error=ENOSYS -E LD_PRELOAD="$folder/library.so" ./status)"
