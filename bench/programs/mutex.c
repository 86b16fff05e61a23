// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * mutex: a null call with a mutex locked, which no other thread wants, in a counted loop.
 */

#include <cosy.h>
#include <pthread.h>
#include <unistd.h>

#include "../common/bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t region(uint64_t count)
{
	pid_t pid = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		pid = getpid();
		pthread_mutex_unlock(&mutex);
	}
	COSY_END;
	return (uint64_t)pid;
}

static uint64_t expected(uint64_t count)
{
	(void)count;
	return (uint64_t)getpid();
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "mutex", .per = "iteration", .count = 50000, .region = region,
		  .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
