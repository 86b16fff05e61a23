/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Many threads in the same regions at the same time, from their first use on. With an argument the
 * main thread does not wait for them: the process ends, and runs destructors, while they are
 * inside.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %run-all %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// RUN: %vm env COSY_EXECUTOR=auto %t | FileCheck %s
// CHECK: done
// RUN: for i in 1 2 3 4 5 6 7 8 9; do COSY_EXECUTOR=user timeout 200 %t leave || exit 1; done
// RUN: %vm sh -c 'for i in 1 2 3 4 5 6 7 8 9; do COSY_EXECUTOR=kernel timeout 200 %t leave || exit 1; done'
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "region.h"

#define THREADS 8

static pthread_barrier_t barrier;

static void touch(uint64_t *frame)
{
	EQUAL(errno, EBADF);
	errno = 0;
	frame[2] += 2;
}

REGION(calls, CALLS, 12)
REGION(mixed, MIXED, 20, touch)

static void *worker(void *rounds)
{
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < (long)rounds; i++) {
		uint64_t a[4] = { 10 };
		uint64_t b[7] = { 5, 0, 0 };

		if (run(&calls, a) == 0)
			EQUAL(a[1], 10 * (uint64_t)getpid());
		if (run(&mixed, b) == 0)
			CHECK(b[0] == 0 && b[1] == 5 && b[2] == 10 &&
			      b[3] == 30);
		EQUAL(errno, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? 1000000000 : 2000;
	pthread_t threads[THREADS];

	(void)argv;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, worker, (void *)rounds), 0);
	pthread_barrier_wait(&barrier);
	if (argc > 1) {
		usleep(2000);
		return 0;
	}
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	printf("done\n");
	return 0;
}
