// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * conditionally-thin-functions-act-as-natively.c - functions that are thin only with some arguments (COSY_LIBC_IF) are system calls
 * with these, otherwise up-calls. The compound compares arguments that the compiler does not know.
 * In all cases they have the native effect.
 */
// RUN: %cosy-cc -O0 -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=remark: --check-prefix=ALL %s
// RUN: %cosy-cc -O2 -Rpass-missed=cosy %s -o %t 2>&1 | FileCheck --implicit-check-not=remark: --check-prefix=ALL %s
// RUN: mkdir -p %t.dir
// RUN: %run-all %t %t.dir | FileCheck --check-prefix=OUT %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t %t.dir thin 2>&1 | FileCheck --check-prefix=THIN %s
// RUN: %run-all %t %t.dir thin | FileCheck --check-prefix=RESULT %s
#define _GNU_SOURCE
#include <cosy.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char buf[4096];

static int flags_of(int fd)
{
	int r;

	COSY_START;
	r = fcntl(fd, F_GETFL);
	COSY_END;
	return r;
}

static int owner_of(int fd)
{
	int r;

	COSY_START;
	r = getpid();
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of fcntl; {{.*}}; with these arguments it is not only a system call
	r = fcntl(fd, F_GETOWN);
	COSY_END;
	return r;
}

static __attribute__((noinline)) int any_fcntl(int fd, int cmd)
{
	int r;

	COSY_START;
	r = getpid();
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of fcntl; {{.*}}; only with arguments with which it is not only a system call
	r = fcntl(fd, cmd, 0);
	COSY_END;
	return r;
}

static __attribute__((noinline)) long entries(int fd, size_t size, uint16_t small)
{
	long r;

	COSY_START;
	r = getdents64(fd, buf, sizeof(buf));
	r += getdents64(fd, buf, small);
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of getdents64
	r += getdents64(fd, buf, size);
	COSY_END;
	return r;
}

static __attribute__((noinline)) int modes(int fd, int flags)
{
	int r;

	COSY_START;
	r = fchmodat(fd, ".", 0755, 0);
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of fchmodat
	r += fchmodat(fd, ".", 0755, flags);
	COSY_END;
	return r;
}

static __attribute__((noinline)) int times_of(int fd, const char *name)
{
	int r;

	COSY_START;
	r = utimensat(fd, ".", NULL, 0);
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of utimensat
	r += utimensat(fd, name, NULL, 0);
	COSY_END;
	return r;
}

static __attribute__((noinline)) int descriptor_times(int fd)
{
	int r;

	COSY_START;
	r = getpid();
	// ALL: conditionally-thin-functions-act-as-natively.c:[[@LINE+1]]:{{.*}} call of futimens
	r = futimens(fd, NULL);
	COSY_END;
	return r;
}

/* Makes the calls with arguments with which they are thin. */
static int thin(int fd)
{
	// THIN: {{^}}cosy: {{.*}}conditionally-thin-functions-act-as-natively.c:{{[0-9]+}}: executor=user runs=1 syscalls=2 entries=0{{$}}
	// THIN-NEXT: {{^}}cosy: {{.*}}conditionally-thin-functions-act-as-natively.c:{{[0-9]+}}: executor=user runs=1 syscalls=3 entries=0{{$}}
	// THIN-NEXT: {{^}}cosy: {{.*}}conditionally-thin-functions-act-as-natively.c:{{[0-9]+}}: executor=user runs=1 syscalls=2 entries=0{{$}}
	// THIN-NEXT: {{^}}cosy: {{.*}}conditionally-thin-functions-act-as-natively.c:{{[0-9]+}}: executor=user runs=1 syscalls=2 entries=0{{$}}
	// THIN-NEXT: {{^}}cosy: {{.*}}conditionally-thin-functions-act-as-natively.c:{{[0-9]+}}: executor=user runs=1 syscalls=2 entries=0{{$}}
	// RESULT: directory 1, entries 48, modes 0, times 0, descriptor 0
	printf("directory %d,", (any_fcntl(fd, F_GETFL) & O_DIRECTORY) != 0);
	printf(" entries %ld,", entries(fd, sizeof(buf), UINT16_MAX));
	printf(" modes %d,", modes(fd, 0));
	printf(" times %d,", times_of(fd, "."));
	printf(" descriptor %d\n", descriptor_times(fd));
	return 0;
}

int main(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : ".", O_RDONLY | O_DIRECTORY);
	int p[2];

	if (fd < 0 || pipe(p)) {
		perror("open");
		return 1;
	}
	if (argc > 2)
		return thin(fd);
	/* The owner is a process group, which is a negative number. */
	fcntl(p[0], F_SETOWN, -getpgrp());
	// OUT: directory 1, owner 1, both 1
	printf("directory %d, owner %d, both %d\n",
	       (flags_of(fd) & O_DIRECTORY) != 0, owner_of(p[0]) == -getpgrp(),
	       any_fcntl(p[0], F_GETOWN) == -getpgrp());
	// OUT: entries 48
	printf("entries %ld\n", entries(fd, SIZE_MAX, UINT16_MAX));
	// OUT: modes 0
	printf("modes %d\n", modes(fd, 0));
	// glibc 2.36 rejects it before the system call, 2.41 does not.
	// OUT: times {{-1 .*Invalid argument|0 .*Success}}
	errno = 0;
	printf("times %d", times_of(fd, NULL));
	printf(" %s\n", strerror(errno));
	// OUT: descriptor 0, -1 Bad file descriptor
	printf("descriptor %d,", descriptor_times(fd));
	printf(" %d", descriptor_times(AT_FDCWD));
	printf(" %s\n", strerror(errno));
	return 0;
}
