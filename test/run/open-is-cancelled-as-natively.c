// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads that are cancelled in open(), at many moments: before the call, during it and after it, with
 * deferred and asynchronous cancellation, in calls that return at once and that block. Each thread ends.
 * Since 2.41, glibc does not cancel a thread that has just opened a file, so no descriptor stays open.
 */

// RUN: %cc -O1 -Wall -pthread %s -o %t
// RUN: %vm %t
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t
// RUN: %cosy-cc -O1 -Wall -pthread -fcosy-auto %s -o %t.auto
// RUN: %vm env COSY_EXECUTOR=kernel %t.auto

#define _GNU_SOURCE
#include <dirent.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "Inputs/device.h"

#define TIMES	100

static char fifo[] = "/tmp/cancellation-fifo";
static int type;		/* of the cancellation */
static const char *name;	/* of the file that is opened */
static volatile bool started;

static void close_opened(void *fd)
{
	if (*(volatile int *)fd >= 0)
		close(*(volatile int *)fd);
}

static void *thread(void *arg)
{
	volatile int fd = -1;
	int state;

	(void)arg;
	pthread_setcanceltype(type, NULL);
	pthread_cleanup_push(close_opened, (void *)&fd);
	started = true;
	for (;;) {
		int now;

		fd = open(name, O_RDONLY | O_CLOEXEC);
		pthread_setcanceltype(type, &now);
		if (now != type)
			_exit(2);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		close(fd);
		fd = -1;
		pthread_setcancelstate(state, NULL);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

/* The number of open descriptors, with that of the directory. */
static int count_open(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int n = 0;

	CHECK(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* Cancel threads at many moments. Return the number of descriptors that they have left open. */
static int cancel_threads(int new_type, const char *file)
{
	int before = count_open();

	type = new_type;
	name = file;
	for (int i = 0; i < TIMES; i++) {
		struct timespec moment = { 0, i * 7919 % 200000 };
		pthread_t id;
		void *result;

		started = false;
		EQUAL(pthread_create(&id, NULL, thread, NULL), 0);
		while (!started)
			sched_yield();
		if (i % 3)
			nanosleep(&moment, NULL);
		EQUAL(pthread_cancel(id), 0);
		EQUAL(pthread_join(id, &result), 0);
		EQUAL(result, PTHREAD_CANCELED);
	}
	return count_open() - before;
}

int main(void)
{
	bool is_exact = strverscmp(gnu_get_libc_version(), "2.41") >= 0;

	unlink(fifo);
	EQUAL(mkfifo(fifo, 0600), 0);
	warm_up();
	CHECK(cancel_threads(PTHREAD_CANCEL_DEFERRED, "/etc/passwd") <= 0 || !is_exact);
	CHECK(cancel_threads(PTHREAD_CANCEL_DEFERRED, fifo) <= 0 || !is_exact);
	cancel_threads(PTHREAD_CANCEL_ASYNCHRONOUS, "/etc/passwd");
	cancel_threads(PTHREAD_CANCEL_ASYNCHRONOUS, fifo);
	EQUAL(unlink(fifo), 0);
	return 0;
}
