/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lines shared|own - two threads, each on a CPU, add to one number, or each to its own, 10000 times. They wait for
 * each other now and then, because QEMU runs a CPU for longer than all that takes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "marks.h"

static struct {
	_Alignas(64) unsigned long number;
} numbers[2];
static pthread_barrier_t barrier;
static unsigned int step;

static void *add(void *arg)
{
	const size_t cpu = (size_t)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EQUAL(sched_setaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < 10000; i++) {
		if (i % 1000 == 0)
			pthread_barrier_wait(&barrier);
		__atomic_fetch_add(&numbers[cpu * step].number, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	CHECK(argc == 2);
	step = !strcmp(argv[1], "own");
	pthread_barrier_init(&barrier, NULL, 2);
	marks_begin();
	for (size_t i = 0; i < 2; i++)
		EQUAL(pthread_create(&threads[i], NULL, add, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	marks_end();
	return 0;
}
