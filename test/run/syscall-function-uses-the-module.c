// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * System calls that a program makes by syscall() go through the module, if they are those of
 * preload.def, and have the same results as natively. libuv calls statx() like this.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %vm %t >%t.native
// RUN: %vm %build/bin/cosy run %t module >%t.module
// RUN: cmp %t.native %t.module
// RUN: FileCheck %s <%t.native
// CHECK:      statx: 0, errno 77, size 5
// CHECK-NEXT: statx of nothing: -1, errno 2
// CHECK-NEXT: statx, bad address: -1, errno 14
// CHECK:      openat: 3, errno 77
// CHECK:      readlinkat: 4, errno 77, file
// CHECK:      fifth argument: -1, errno 22

// A library after Cosy's that interposes syscall() sees each call.
// RUN: %cc -O1 -Wall -DLIBRARY -shared -fPIC %s -o %t.so
// RUN: %vm sh -c 'LD_PRELOAD=$(%build/bin/cosy run --print):%t.so %t' | FileCheck --check-prefix=OTHER %s
// OTHER: statx: 0, errno 77, size 5
// OTHER: {{^1[0-9][0-9]}} calls of syscall()
#define _GNU_SOURCE
#include <stdio.h>

#ifdef LIBRARY

#include "../Inputs/raw-syscall.h"

static int calls;

long syscall(long nr, long a, long b, long c, long d, long e)
{
	long result;

	calls++;
	__asm__ volatile("mov %5, %%r10; mov %6, %%r8; syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e)
			 : "rcx", "r8", "r10", "r11", "memory");
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

__attribute__((destructor)) static void print(void)
{
	printf("%d calls of syscall()\n", calls);
}

#else

#include <stdlib.h>

#include "Inputs/device.h"

static void show(const char *what, long result, const char *rest)
{
	int error = errno;

	printf("%s: %ld, errno %d%s\n", what, result, error, rest);
}

#define CALL(what, rest, ...) (errno = 77, show(what, syscall(__VA_ARGS__), rest))

int main(int argc, char **argv)
{
	char top[] = "/tmp/syscall-XXXXXX", text[100] = "", rest[120];
	struct statx stx;
	struct stat st;
	long result;
	int fd;

	CHECK(mkdtemp(top));
	EQUAL(chdir(top), 0);
	fd = open("file", O_CREAT | O_WRONLY, 0644);
	CHECK(fd >= 0);
	EQUAL(write(fd, "12345", 5), 5);
	EQUAL(close(fd), 0);
	EQUAL(symlink("file", "link"), 0);
	/* So many that the device is open, if there is the library. */
	for (int i = 0; i < 100; i++)
		EQUAL(syscall(SYS_statx, AT_FDCWD, "file", 0, STATX_SIZE, &stx), 0);
	EQUAL(has_device(), (argc > 1));
	(void)argv;

	errno = 77;
	result = syscall(SYS_statx, AT_FDCWD, "file", 0, STATX_BASIC_STATS, &stx);
	snprintf(rest, sizeof(rest), ", size %llu", stx.stx_size);
	show("statx", result, rest);
	CALL("statx of nothing", "", SYS_statx, AT_FDCWD, "nothing", 0, STATX_SIZE, &stx);
	CALL("statx, bad address", "", SYS_statx, AT_FDCWD, "file", 0, STATX_SIZE, 8);
	CALL("newfstatat", "", SYS_newfstatat, AT_FDCWD, "link", &st, AT_SYMLINK_NOFOLLOW);
	CALL("stat", "", SYS_stat, "file", &st);
	CALL("access", "", SYS_access, "file", R_OK);
	CALL("openat", "", SYS_openat, AT_FDCWD, "file", O_RDONLY, 0);
	/* The upper halves of arguments of type int are ignored. */
	CALL("openat, long flags", "", SYS_openat, AT_FDCWD & 0xffffffffl, "file", 1l << 40, 0);
	EQUAL(close(3), 0);
	EQUAL(close(4), 0);
	errno = 77;
	result = syscall(SYS_readlinkat, AT_FDCWD, "link", text, sizeof(text));
	snprintf(rest, sizeof(rest), ", %s", text);
	show("readlinkat", result, rest);
	CALL("mkdir", "", SYS_mkdir, "sub", 0755);
	CALL("rename", "", SYS_rename, "sub", "moved");
	CALL("unlinkat", "", SYS_unlinkat, AT_FDCWD, "moved", AT_REMOVEDIR);
	CALL("unlink", "", SYS_unlink, "link");
	CALL("fifth argument", "", SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "x", 0x100);
	/* These are not calls of preload.def, or no calls. */
	CALL("fstat", "", SYS_fstat, 0, 8);
	CALL("faccessat", "", SYS_faccessat, AT_FDCWD, "file", R_OK);
	CALL("read", "", SYS_read, -1, text, 1);
	CALL("number 447", "", 447, 0, 0, 0);
	CALL("number 448", "", 448, -1, 0, 0);
	CALL("number 100000", "", 100000, 0, 0, 0);
	CALL("number -1", "", -1l, 0, 0, 0);
	EQUAL(has_device(), (argc > 1));
	return 0;
}

#endif
