// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// _FORTIFY_SOURCE: the check of a buffer's size is in the compound, and so is the guarded
// call. Only if the check fails, the checking function is called, and aborts.
// RUN: %clang -O2 -D_FORTIFY_SOURCE=2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O1 -D_FORTIFY_SOURCE=3 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 -D_FORTIFY_SOURCE=2 %s -o %t && %run-all %t 40 | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O1 -D_FORTIFY_SOURCE=3 %s -o %t && %run-all %t 40 | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -D_FORTIFY_SOURCE=2 %s -o %t && %run-all %t 40 | FileCheck --check-prefix=OUT %s
// RUN: %run-all --status 134 --no-stats %t 65
// RUN: %run-all --status 134 --no-stats %t 40 abcdefghijklmnop
// RUN: %run-all --status 134 --no-stats %t 40 abcdefghijklmn
#include <cosy.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Calls that another libc emits, but glibc 2.36 does not emit with clang. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __readlink_chk(const char *path, char *buf, size_t n, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __open_2(const char *name, int flags);

// CHECK-LABEL: .compound "guarded"
// CHECK: libc{{[.a-z]*}} {{.*}}, openat,
// CHECK: libc {{.*}}, read,
// CHECK: br.8.ugt
// CHECK: copy
// CHECK: br.8.ugt
// CHECK: copy
// CHECK: br.8.ugt
// CHECK: fill
// CHECK: libc {{.*}}, readlink,
// CHECK: libc {{.*}}, poll,
// CHECK: exit 0
__attribute__((noinline)) static long guarded(size_t n, int flags)
{
	char buf[64] = "", dst[64] = "", link[64];
	struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};
	long r = 0;
	int fd;

	COSY_START;
	fd = __open_2("/etc/passwd", flags);
	r += __read_chk(fd, buf, n, sizeof(buf));
	memcpy(dst, buf, n);
	memcpy(dst + 40, buf, 16);
	memmove(dst + 1, dst, n);
	memset(buf + 4, 'x', n);
	r += __readlink_chk("/proc/self/exe", link, n, sizeof(link)) > 0;
	r += __poll_chk(fds, n / 20, 0, sizeof(fds));
	r += close(fd);
	COSY_END;
	return r + (dst[0] == dst[1]) * 1000 + buf[43] * 10 + buf[44];
}

// A function that fails last is called when nothing has been written yet.
// CHECK-LABEL: .compound "strings"
// CHECK: strlen
// CHECK: br.8.{{ugt|uge|ult}}
// CHECK: copy
// CHECK: strnlen
// CHECK: strnlen
// CHECK: br.8.{{eq|ne}}
// CHECK: copy
// CHECK: br.8.ugt
// CHECK: strnlen
// CHECK: copy
// CHECK: fill
// CHECK: exit 0
__attribute__((noinline)) static long strings(size_t n, const char *s)
{
	char copy[16], padded[16];

	COSY_START;
	getpid();
	__builtin___strcpy_chk(copy, s, sizeof(copy));
	__builtin___strncat_chk(copy, s, 2, sizeof(copy));
	__builtin___strncpy_chk(padded, copy, n, sizeof(padded));
	getppid();
	COSY_END;
	return copy[strlen(copy) - 1] * 1000 + padded[n - 1] * 10 + (long)strlen(copy);
}

int main(int argc, char **argv)
{
	size_t n = strtoul(argv[1], NULL, 10);

	// OUT: 2241
	printf("%ld\n", guarded(n, O_RDONLY));
	// OUT-NEXT: 98005
	printf("%ld\n", strings(n - 25 < 16 ? n - 25 : 7, argv[2] ? argv[2] : "abc"));
	return 0;
}
