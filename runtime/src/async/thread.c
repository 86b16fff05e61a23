/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.c - threads that make the calls that block.
 *
 * There are as many as were needed at once, up to a maximum. They end with the loop.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "../sys.h"
#include "loop.h"

#define STACK_SIZE	(128u << 10)

void cosy_pool_init(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t max)
{
	pool->loop = loop;
	pool->head = pool->tail = COSY_NO_SLOT;
	pool->max = max;
}

/*
 * Signals are blocked in these threads. What the call has sent to its own thread
 * would have met the process: it does now.
 */
static void pass_signal_on(long result)
{
	static const struct timespec no_time;
	uint64_t set;
	long nr;

	if (result == -EPIPE)
		set = 1ull << (SIGPIPE - 1);
	else if (result == -EFBIG)
		set = 1ull << (SIGXFSZ - 1);
	else
		return;
	nr = cosy_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&no_time,
		       sizeof(set), 0, 0);
	if (nr > 0)
		cosy_sys(SYS_kill, cosy_sys(SYS_getpid, 0, 0, 0), nr, 0);
}

/* Where the call goes on after what has been transferred. */
static void call_args(const struct cosy_loop *loop, uint32_t slot,
		      uint64_t args[6])
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	uint64_t done = loop->slots[slot].done;

	memcpy(args, entry->args, sizeof(entry->args));
	if (done) {
		args[1] += done;
		args[2] -= done;
		if (entry->nr == SYS_pread64)
			args[3] += done;
	}
}

static void make_call(struct cosy_loop *loop, uint32_t slot)
{
	uint32_t nr = loop->entries[slot].nr;
	uint64_t args[6];
	long result;

	call_args(loop, slot, args);
	loop->slots[slot].state = COSY_SLOT_RUNNING;
	loop->calling++;
	loop->info.handed_over++;
	cosy_loop_leave(loop);
	result = cosy_sys6(nr, (long)args[0], (long)args[1], (long)args[2],
			   (long)args[3], (long)args[4], (long)args[5]);
	cosy_lock(&loop->lock);
	loop->calling--;
	cosy_thread_made(loop, slot, result);
	/* With the lock: whoever waits for this result gets it, and not -EINTR. */
	pass_signal_on(result);
	cosy_loop_tell(loop);
}

static void enqueue(struct cosy_pool *pool, uint32_t slot)
{
	struct cosy_slot *slots = pool->loop->slots;

	slots[slot].state = COSY_SLOT_QUEUED;
	slots[slot].pool_next = COSY_NO_SLOT;
	slots[slot].pool_prev = pool->tail;
	if (pool->tail == COSY_NO_SLOT)
		pool->head = slot;
	else
		slots[pool->tail].pool_next = slot;
	pool->tail = slot;
	pool->queued++;
}

static void dequeue(struct cosy_pool *pool, uint32_t slot)
{
	struct cosy_slot *slots = pool->loop->slots;
	uint32_t next = slots[slot].pool_next, prev = slots[slot].pool_prev;

	if (prev == COSY_NO_SLOT)
		pool->head = next;
	else
		slots[prev].pool_next = next;
	if (next == COSY_NO_SLOT)
		pool->tail = prev;
	else
		slots[next].pool_prev = prev;
	pool->queued--;
}

static void *thread_main(void *arg)
{
	struct cosy_pool *pool = arg;
	struct cosy_loop *loop = pool->loop;
	uint32_t slot;

	cosy_lock(&loop->lock);
	for (;;) {
		while (pool->head == COSY_NO_SLOT && !loop->closing) {
			pool->idle++;
			cosy_event_wait(&pool->work, &loop->lock, UINT64_MAX);
			pool->idle--;
		}
		slot = pool->head;
		if (slot == COSY_NO_SLOT)
			break;
		dequeue(pool, slot);
		make_call(loop, slot);
	}
	pool->threads--;
	cosy_loop_changed(loop);
	cosy_unlock(&loop->lock);
	return NULL;
}

static int start_thread(struct cosy_pool *pool)
{
	sigset_t all, mask;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	err = pthread_create(&thread, &attr, thread_main, pool);
	if (err == EINVAL) {
		/* Thread-local variables of the program need more. */
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		err = pthread_create(&thread, &attr, thread_main, pool);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	if (!err)
		pool->threads++;
	return err;
}

void cosy_thread_call(struct cosy_loop *loop, uint32_t slot, bool disk)
{
	struct cosy_pool *pool = disk ? &loop->disk : &loop->waits;
	int err = 0;

	/* What poll() points to may be wrong. */
	if (loop->slots[slot].how != COSY_HOW_POLL)
		cosy_descriptor_use(loop, cosy_slot_fd(loop, slot));
	if (pool->idle <= pool->queued && pool->threads < pool->max)
		err = start_thread(pool);
	if (err && !pool->threads) {
		cosy_finish(loop, slot, -err);
		return;
	}
	loop->slots[slot].on_disk = disk;
	enqueue(pool, slot);
	if (pool->idle)
		cosy_event_happened(&pool->work, 1);
}

void cosy_thread_cancel(struct cosy_loop *loop, uint32_t slot)
{
	dequeue(loop->slots[slot].on_disk ? &loop->disk : &loop->waits, slot);
}

void cosy_pool_end(struct cosy_loop *loop, struct cosy_pool *pool)
{
	cosy_event_happened(&pool->work, INT_MAX);
	loop->waiters++;
	while (pool->threads)
		cosy_event_wait(&loop->changed, &loop->lock, UINT64_MAX);
	loop->waiters--;
}
