// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A thread forks while another one opens the device: both processes can open it later. A thread changes a limit
 * again and again, before which the device is closed, while others enter it: it is not taken for one that the
 * program has closed, also if it was opened again with the same number.
 */

// RUN: %cc -O1 -Wall -pthread %s -o %t
// RUN: %vm %S/Inputs/with-exceptions %build/bin/cosy run %t
// If the device is opened at the first call, it is opened as often as it is closed.
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t limits

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/fanotify.h>
#include <sys/wait.h>

#include "Inputs/device.h"

/* The library reads this file before it opens the device. */
#define EXCEPT	"/etc/cosy/run-except"

#define THREADS	3
#define TIMES	1000

static volatile bool stop;

static void *open_device(void *arg)
{
	warm_up();
	return arg;
}

static void fork_during_open(void)
{
	int events = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY), status, go[2];
	struct fanotify_event_metadata event;
	struct fanotify_response response;
	pthread_t thread;
	char byte = 0;
	pid_t pid;

	CHECK(events >= 0);
	EQUAL(pipe(go), 0);
	EQUAL(fanotify_mark(events, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, EXCEPT), 0);
	EQUAL(pthread_create(&thread, NULL, open_device, NULL), 0);
	EQUAL(read(events, &event, sizeof(event)), sizeof(event));
	pid = fork();
	if (!pid) {
		/* It would have to permit opens of this process. */
		EQUAL(close(events), 0);
		EQUAL(read(go[0], &byte, 1), 1);
		warm_up();
		_exit(has_device() ? 0 : 5);
	}
	response = (struct fanotify_response){ .fd = event.fd, .response = FAN_ALLOW };
	EQUAL(write(events, &response, sizeof(response)), sizeof(response));
	EQUAL(close(event.fd), 0);
	EQUAL(close(events), 0);
	EQUAL(write(go[1], &byte, 1), 1);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	EQUAL(pthread_join(thread, NULL), 0);
	warm_up();
	CHECK(has_device());
}

static void *enter(void *arg)
{
	struct stat st;

	while (!stop)
		EQUAL(stat("/", &st), 0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct rlimit limit;

	(void)argv;
	if (argc < 2)
		fork_during_open();
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, enter, NULL), 0);
	for (int i = 0; i < TIMES; i++) {
		EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
		usleep(100);
	}
	stop = true;
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	warm_up();
	CHECK(has_device());
	EQUAL(count_descriptors("/dev/cosy"), 1);
	return 0;
}
