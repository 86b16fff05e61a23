// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// System calls by their libc names and by syscall(2), and errno after them.
// RUN: %clang -O1 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O0 -D_FILE_OFFSET_BITS=64 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -D_FORTIFY_SOURCE=2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 %s -o %t
// RUN: %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// CHECK-LABEL: .compound "file"
// CHECK: libc{{[.a-z]*}} r[[#FD:]], openat, -100, r{{[0-9]+}}, 0, 0
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, fstat, r[[#FD]], r{{[0-9]+}}
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, lseek, r[[#FD]], 2, 0
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, read, r[[#FD]], r{{[0-9]+}}, 4
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, pread64, r[[#FD]], r{{[0-9]+}}+4, 3, 0
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, close, r[[#FD]]
static int file(const char *name, char *buf, long *size)
{
	struct stat st;
	int got = -1;

	COSY_START;
	int fd = open(name, O_RDONLY);
	if (fd >= 0) {
		fstat(fd, &st);
		*size = st.st_size;
		lseek(fd, 2, SEEK_SET);
		got = read(fd, buf, 4);
		got += pread(fd, buf + 4, 3, 0);
		close(fd);
	}
	COSY_END;
	return got;
}

// CHECK-LABEL: .compound "errors"
// CHECK: libc{{[.a-z]*}} r[[#R:]], close, 4294967295
// CHECK-NEXT: br.4.eq r[[#R]], -1,
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, openat, -100, r{{[0-9]+}}, 66, 420
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, read, 0, r{{[0-9]+}}, 10
// CHECK: libc{{[.a-z]*}} r{{[0-9]+}}, dup, 4294967295
// CHECK: load.4 r{{[0-9]+}}, [r[[#ERRNO:]]]
// CHECK: load.4 r{{[0-9]+}}, [r[[#ERRNO]]]
// CHECK: load.4 r{{[0-9]+}}, [r[[#ERRNO]]]
static void errors(int e[4], char *bad)
{
	COSY_START;
	e[0] = close(-1) == -1 ? errno : 0;
	e[1] = open("/nonexistent/x", O_RDWR | O_CREAT, 0644) < 0 ? errno : 0;
	e[2] = read(0, bad, 10) == -1 ? errno : 0;
	e[3] = syscall(SYS_dup, -1) == -1 ? errno : 0;
	COSY_END;
}

int main(int argc, char **argv)
{
	char buf[16] = "", tmp[] = "/tmp/cosy-calls-XXXXXX";
	int e[4], fd;
	long size = 0;

	(void)argc;
	(void)argv;
	fd = mkstemp(tmp);
	if (write(fd, "0123456789", 10) != 10)
		return 1;
	close(fd);
	// OUT: 7 10 2345012
	printf("%d", file(tmp, buf, &size));
	printf(" %ld %s\n", size, buf);
	unlink(tmp);
	// OUT-NEXT: -1
	printf("%d\n", file("/nonexistent", buf, &size));
	close(0);
	open("/dev/zero", O_RDONLY);
	errors(e, (char *)8);
	// OUT-NEXT: Bad file descriptor, No such file or directory, Bad address, Bad file descriptor
	printf("%s, ", strerror(e[0]));
	printf("%s, ", strerror(e[1]));
	printf("%s, ", strerror(e[2]));
	printf("%s\n", strerror(e[3]));
	return 0;
}
