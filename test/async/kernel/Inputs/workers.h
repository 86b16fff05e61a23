/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * workers.h - threads that wait in a loop of the module for entries whose calls block.
 */
#ifndef WORKERS_H
#define WORKERS_H

#include "../../../kernel/loop.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* A thread that works until it leaves with an entry, or an error, or @ending. */
struct worker {
	struct loop *loop;
	uint64_t what;
	pthread_t thread;
	atomic_int tid;
	atomic_llong left;
	atomic_uint entered;
};

static atomic_bool ending;

static inline void *working(void *arg)
{
	struct worker *w = arg;
	long long ret;

	atomic_store(&w->tid, gettid());
	do {
		ret = enter_loop(w->loop, w->what);
		atomic_fetch_add(&w->entered, 1);
	} while (ret == (long long)COSY_ASYNC_ENTERED && !atomic_load(&ending));
	atomic_store(&w->left, ret);
	return NULL;
}

static inline void wait_until_asleep(struct worker *w)
{
	while (!atomic_load(&w->tid) || !is_asleep(atomic_load(&w->tid)))
		sched_yield();
}

static inline void start(struct worker *w, struct loop *loop, uint64_t flags)
{
	atomic_store(&ending, false);
	*w = (struct worker){ .loop = loop, .what = COSY_ASYNC_WORK | loop->page->id | flags };
	pthread_create(&w->thread, NULL, working, w);
	wait_until_asleep(w);
}

static inline void recall(struct loop *loop, uint32_t which)
{
	__atomic_store_n(&loop->page->recall, which, __ATOMIC_RELEASE);
	check(enter_loop(loop, COSY_ASYNC_WORK | COSY_ASYNC_CANCEL) ==
	      (long long)COSY_ASYNC_ENTERED, "entering with CANCEL recalls the threads");
}

static inline long long end(struct worker *w)
{
	pthread_join(w->thread, NULL);
	return atomic_load(&w->left);
}

static inline void end_all(struct worker *w, unsigned int n)
{
	atomic_store(&ending, true);
	recall(w->loop, COSY_RECALL | COSY_RECALL_LONG);
	for (unsigned int i = 0; i < n; i++)
		end(&w[i]);
	__atomic_store_n(&w->loop->page->recall, 0, __ATOMIC_RELEASE);
}

static inline void submit_work(struct loop *loop, uint32_t index, unsigned int flags, long nr, uint64_t a,
			uint64_t b, uint64_t c, uint64_t d)
{
	submit(loop, index, COSY_ENTRY_THREAD | flags, nr, a, b, c, d);
	/* A thread may have made the call meanwhile. */
	if (execute(loop) < 0)
		die("execute");
}

/* Sleep until an entry is complete; return its index. */
static inline int next_of(struct loop *loop)
{
	int index;

	loop->page->sleep_fd = -1;
	loop->page->sleep_ns = COSY_ASYNC_FOR_EVER;
	while ((index = collect(loop)) < 0)
		enter_loop(loop, COSY_ASYNC_SLEEP | COSY_ASYNC_AWAIT | COSY_ASYNC_MAX_DONE);
	return index;
}

static inline uint8_t status_of(const struct loop *loop, uint32_t index)
{
	return __atomic_load_n(&loop->entries[index].status, __ATOMIC_ACQUIRE);
}

static inline void wait_until_running(const struct loop *loop, uint32_t index, struct worker *w)
{
	while (status_of(loop, index) != COSY_ENTRY_RUNNING)
		sched_yield();
	wait_until_asleep(w);
}

#endif /* WORKERS_H */
