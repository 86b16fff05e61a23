/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads use, close and hand over the same descriptors at once. Each descriptor is closed or handed over
 * once, a call has its own file or fails with EBADF, and none is left.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <cosy/share.h>

#include "asleep.h"
#include "check.h"

#define ROUNDS	2000

static struct cosy_share *first, *second;
static pthread_barrier_t barrier;
static int writes;
static atomic_int taken, closed, installed, wrote;
static atomic_bool stop;

static uint32_t count(struct cosy_share *share)
{
	struct cosy_share_info info;

	cosy_share_info(share, &info, sizeof(info));
	return info.open;
}

static void *closes(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		int ret = cosy_share_close(first, writes);

		CHECK(!ret || ret == -EBADF);
		closed += !ret;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *gives(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		int fd = cosy_share_give(first, writes, second);

		CHECK(fd >= 0 || fd == -EBADF);
		if (fd >= 0) {
			taken++;
			EQUAL(cosy_share_write(second, fd, "g", 1), 1);
			EQUAL(cosy_share_close(second, fd), 0);
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *installs(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		int fd = cosy_share_install(first, writes, O_CLOEXEC);

		CHECK(fd >= 0 || fd == -EBADF);
		if (fd >= 0) {
			installed++;
			EQUAL(write(fd, "i", 1), 1);
			close(fd);
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *uses(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		ssize_t ret = cosy_share_write(first, writes, "w", 1);

		CHECK(ret == 1 || ret == -EBADF);
		wrote += ret == 1;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Open and close ordinary files meanwhile: no call may get one of them. */
static void *disturbs(void *arg)
{
	(void)arg;
	while (!stop) {
		int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

		sched_yield();
		close(fd);
	}
	return NULL;
}

static _Atomic pid_t reader;

/* Readers that wait while their descriptor is closed read what is written later. */
static void *reads(void *arg)
{
	char c = 0;

	reader = gettid();
	EQUAL(cosy_share_read(first, *(int *)arg, &c, 1), 1);
	EQUAL(c, 'r');
	return NULL;
}

static void close_while_reading(void)
{
	pthread_t thread;
	int ends[2];

	EQUAL(cosy_share_pipe(first, ends, 0), 0);
	EQUAL(pthread_create(&thread, NULL, reads, &ends[0]), 0);
	while (!reader || !is_asleep(reader))
		usleep(1000);
	EQUAL(cosy_share_close(first, ends[0]), 0);
	EQUAL(cosy_share_write(first, ends[1], "r", 1), 1);
	pthread_join(thread, NULL);
	EQUAL(cosy_share_close(first, ends[1]), 0);
}

int main(void)
{
	void *(*const functions[])(void *) = { closes, gives, installs, uses };
	pthread_t threads[4], disturber;
	int ends[2], bytes = 0;
	char c;

	EQUAL(cosy_share_create(&first, NULL), 0);
	EQUAL(cosy_share_create(&second, NULL), 0);
	pthread_barrier_init(&barrier, NULL, 5);
	EQUAL(pipe2(ends, O_CLOEXEC), 0);
	EQUAL(fcntl(ends[0], F_SETPIPE_SZ, 1 << 16), 1 << 16);
	for (int i = 0; i < 4; i++)
		EQUAL(pthread_create(&threads[i], NULL, functions[i], NULL), 0);
	EQUAL(pthread_create(&disturber, NULL, disturbs, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		writes = cosy_share_dup(first, ends[1]);
		CHECK(writes >= 0);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		EQUAL(closed + taken + installed, i + 1);
		EQUAL(count(first), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	stop = true;
	pthread_join(disturber, NULL);
	EQUAL(count(second), 0);
	/* Every write went to the pipe. */
	close(ends[1]);
	while (read(ends[0], &c, 1) == 1)
		bytes++;
	EQUAL(bytes, taken + installed + wrote);
	close_while_reading();
	cosy_share_destroy(first);
	cosy_share_destroy(second);
	return 0;
}
