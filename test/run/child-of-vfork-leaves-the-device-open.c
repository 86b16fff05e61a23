// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A child of vfork() has the memory of its parent, but not its descriptors. If it changes a limit, the parent does
 * not forget the device that another thread has opened meanwhile, and opens no second one.
 */

// RUN: %cc -O1 -Wall -pthread %s -o %t
// RUN: %vm %build/bin/cosy run %t

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>

#include "Inputs/device.h"

#define TIMES	8

static volatile bool in_child, opened;

static void *open_device(void *arg)
{
	while (!in_child)
		;
	/* Each vfork() doubles the number of calls before the device is opened, up to 4,096. */
	for (int i = 0; i < 25; i++)
		warm_up();
	CHECK(has_device());
	opened = true;
	return arg;
}

static void change_limit_in_child(void)
{
	struct rlimit limit;
	pthread_t thread;
	int status;
	pid_t pid;

	in_child = opened = false;
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(pthread_create(&thread, NULL, open_device, NULL), 0);
	pid = vfork();
	if (!pid) {
		in_child = true;
		while (!opened)
			;
		_exit(setrlimit(RLIMIT_NOFILE, &limit) ? 1 : 0);
	}
	CHECK(pid > 0);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(pthread_join(thread, NULL), 0);
}

int main(void)
{
	struct rlimit limit;
	int devices = 0;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < TIMES; i++)
		change_limit_in_child();
	for (int fd = limit.rlim_cur + HIDDEN; fd < (int)limit.rlim_cur + 64; fd++)
		devices += is_device(fd);
	EQUAL(devices, 1);
	return 0;
}
