// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process forks while other threads make and destroy segments. Each child has the segments without descriptors
// of arenas, and can make and destroy others.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -pthread %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// CHECK: function add: executor=kernel
#include <cosy.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "../Inputs/check.h"
#include "../Inputs/descriptors.h"

#define THREADS	2
#define FORKS	20

COSY_FUNCTION void add(unsigned int *to)
{
	++*to;
}

static volatile bool stop;
static int made;

static void use(struct cosy_segment *segment)
{
	unsigned int *number;

	CHECK(segment);
	cosy_segment_use(segment);
	number = cosy_calloc(1, sizeof(*number));
	CHECK(number);
	COSY_START;
	getppid();
	add(number);
	COSY_END;
	EQUAL(*number, 1);
	cosy_free(number);
	cosy_segment_destroy(segment);
}

static void *change(void *arg)
{
	while (!stop) {
		use(cosy_segment_create(1 << 20));
		__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];
	int status;
	pid_t pid;

	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], NULL, change, NULL), 0);
	while (!__atomic_load_n(&made, __ATOMIC_RELAXED))
		usleep(1000);
	for (int i = 0; i < FORKS; i++) {
		usleep((useconds_t)(i * 37 % 1000));
		pid = fork();
		if (!pid) {
			EQUAL(count_descriptors("anon_inode:bpf-map"), 0);
			use(cosy_segment_create(1 << 20));
			EQUAL(count_descriptors("anon_inode:bpf-map"), 0);
			_exit(0);
		}
		CHECK(pid > 0);
		EQUAL(waitpid(pid, &status, 0), pid);
		EQUAL(status, 0);
	}
	stop = true;
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	EQUAL(count_descriptors("anon_inode:bpf-map"), 0);
	return 0;
}
