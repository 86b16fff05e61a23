// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A thread sets a seccomp filter that kills the process for an entry, while another thread opens
 * the device. The device must be disabled for both.
 */

// RUN: %cc -O1 -Wall -pthread %s -o %t
// RUN: %vm %S/Inputs/with-exceptions %t native
// RUN: %vm %S/Inputs/with-exceptions %build/bin/cosy run %t

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>

#include "Inputs/device.h"

/* The library reads this file before it opens the device. */
#define EXCEPT	"/etc/cosy/run-except"

static void *open_device(void *native)
{
	warm_up();
	if (native)
		EQUAL(close(syscall(SYS_openat, AT_FDCWD, EXCEPT, O_RDONLY, 0)), 0);
	return NULL;
}

/* Wait until a thread opens the file. Return: the descriptor that the event contains. */
static int wait_for_open(int events)
{
	struct fanotify_event_metadata event;

	EQUAL(read(events, &event, sizeof(event)), sizeof(event));
	EQUAL(event.mask, FAN_OPEN_PERM);
	return event.fd;
}

static void allow_open(int events, int fd)
{
	struct fanotify_response response = { .fd = fd, .response = FAN_ALLOW };

	EQUAL(write(events, &response, sizeof(response)), sizeof(response));
	EQUAL(close(fd), 0);
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pthread_t thread;

	int events = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY), fd;

	CHECK(events >= 0);
	EQUAL(fanotify_mark(events, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, EXCEPT), 0);
	EQUAL(pthread_create(&thread, NULL, open_device, argc > 1 ? argv[1] : NULL), 0);
	fd = wait_for_open(events);
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	/* For this thread only; but the descriptor would belong to the process. */
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	allow_open(events, fd);
	EQUAL(pthread_join(thread, NULL), 0);
	warm_up();
	CHECK(device() < 0);
	return 0;
}
