/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * run-threads.h - runs a loop in several threads.
 */
#ifndef RUN_THREADS_H
#define RUN_THREADS_H

#include <pthread.h>

#include "loop.h"

static inline void *run_in_thread(void *loop)
{
	return (void *)(intptr_t)cosy_loop_run(loop);
}

/*
 * Run the loop in @threads threads, with the calling one, until all of them find nothing outstanding. It is not
 * stopped: a thread that begins late would wait for the next stop. Return what cosy_loop_run() returns to the
 * calling one.
 */
static inline int run_threads(struct cosy_loop *loop, unsigned int threads)
{
	pthread_t ids[16];
	int ret;

	for (unsigned int i = 1; i < threads; i++)
		EQUAL(pthread_create(&ids[i], NULL, run_in_thread, loop), 0);
	ret = cosy_loop_run(loop);
	for (unsigned int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	return ret;
}

#endif /* RUN_THREADS_H */
