// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * static-libc.c - in a static program, libcosy recognises libc's functions at which a thread can be cancelled,
 * with every way in which versions of glibc make their system calls, and finds out the program's own ones.
 */
// RUN: %cosy-cc -O2 -static %s -o %t && %run-all --only native,user %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: %cosy-cc -O2 -static-pie %s -o %t && %run-all --only native,user %t | FileCheck %s
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// STATS-NOT: runs natively
// STATS: executor=user runs=1
//
// Own functions that do the same, but count the calls, or call another function.
// RUN: %cc -O2 -DOWN_READ -c %s -o %t.read.o
// RUN: %cosy-cc -O2 -static %s %t.read.o -o %t && env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefixes=CHECK,READ %s
// RUN: %cosy-cc -O2 -static-pie %s %t.read.o -o %t && env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefixes=CHECK,READ %s
// READ: runs natively: read() is not the C library's
// RUN: %cc -O2 -DOWN_PPOLL -c %s -o %t.ppoll.o
// RUN: %cosy-cc -O2 -static %s %t.ppoll.o -o %t && env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefixes=CHECK,PPOLL %s
// PPOLL: runs natively: ppoll() is not the C library's
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(OWN_READ)

int calls;

ssize_t read(int fd, void *buf, size_t size)
{
	long result;

	calls++;
	__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_read), "D"(fd), "S"(buf), "d"(size)
			 : "rcx", "r11", "memory");
	return result < 0 ? -1 : result;
}

#elif defined(OWN_PPOLL)

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	return (int)syscall(SYS_ppoll, fds, count, timeout, mask, 8);
}

#else

#include <cosy.h>

int main(void)
{
	struct timespec now = {0};
	struct epoll_event event;
	struct mmsghdr messages = {0};
	struct msghdr message = {0};
	struct iovec vector = {0};
	siginfo_t info;
	char buf[64] = {0};
	int failed = 0, status;
	unsigned int priority;

	COSY_START;
	/* These succeed. */
	failed -= poll(NULL, 0, 0) == 0;
	failed -= ppoll(NULL, 0, &now, NULL) == 0;
	failed -= getrandom(buf, 4, 0) == 4;
	/* And these fail. */
	failed += read(-1, buf, 1) < 0;
	failed += write(-1, buf, 1) < 0;
	failed += close(-1) < 0;
	failed += open("/missing/name", O_RDONLY) < 0;
	failed += openat(-1, "missing", O_RDONLY) < 0;
	failed += creat("/missing/name", 0600) < 0;
	failed += pread(-1, buf, 1, 0) < 0;
	failed += pwrite(-1, buf, 1, 0) < 0;
	failed += readv(-1, &vector, 1) < 0;
	failed += writev(-1, &vector, 1) < 0;
	failed += preadv(-1, &vector, 1, 0) < 0;
	failed += pwritev(-1, &vector, 1, 0) < 0;
	failed += accept(-1, NULL, NULL) < 0;
	failed += accept4(-1, NULL, NULL, 0) < 0;
	failed += connect(-1, (const struct sockaddr *)buf, 16) < 0;
	failed += recv(-1, buf, 1, 0) < 0;
	failed += recvfrom(-1, buf, 1, 0, NULL, NULL) < 0;
	failed += recvmsg(-1, &message, 0) < 0;
	failed += recvmmsg(-1, &messages, 1, 0, NULL) < 0;
	failed += send(-1, buf, 1, 0) < 0;
	failed += sendto(-1, buf, 1, 0, NULL, 0) < 0;
	failed += sendmsg(-1, &message, 0) < 0;
	failed += sendmmsg(-1, &messages, 1, 0) < 0;
	failed += epoll_wait(-1, &event, 1, 0) < 0;
	failed += epoll_pwait(-1, &event, 1, 0, NULL) < 0;
	failed += epoll_pwait2(-1, &event, 1, &now, NULL) < 0;
	failed += fsync(-1) < 0;
	failed += fdatasync(-1) < 0;
	failed += fallocate(-1, 0, 0, 1) < 0;
	failed += sync_file_range(-1, 0, 1, 0) < 0;
	failed += msync((void *)1, 1, MS_SYNC) < 0;
	failed += copy_file_range(-1, NULL, -1, NULL, 1, 0) < 0;
	failed += splice(-1, NULL, -1, NULL, 1, 0) < 0;
	failed += tee(-1, -1, 1, 0) < 0;
	failed += vmsplice(-1, &vector, 1, 0) < 0;
	failed += mq_timedreceive(-1, buf, 1, &priority, &now) < 0;
	failed += mq_timedsend(-1, buf, 1, 0, &now) < 0;
	failed += msgrcv(-1, buf, 1, 0, IPC_NOWAIT) < 0;
	failed += msgsnd(-1, buf, 1, IPC_NOWAIT) < 0;
	failed += wait4(-1, &status, WNOHANG, NULL) < 0;
	failed += waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0;
	COSY_END;
	// CHECK: 38 failed
	printf("%d failed\n", failed);
	return 0;
}

#endif
