/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.c - threads that make blocking calls.
 *
 * A thread is started when all others are busy, up to a maximum. Threads end with the loop. If
 * the module supports it, they wait there. Then entries are lent to the module, and the threads
 * make the calls there, without a return to user mode.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/sys.h"
#include "loop.h"
#include "thread.h"

#define STACK_SIZE	(128u << 10)

void cosy_pool_init(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t max)
{
	pool->loop = loop;
	cosy_queue_init(&pool->queued);
	cosy_queue_init(&pool->lent);
	pool->max = max;
}

static struct cosy_pool *pool_of(struct cosy_loop *loop, uint32_t slot)
{
	return loop->slots.all[slot].on_disk ? &loop->threads.disk : &loop->threads.waits;
}

#define PIPE_SIGNAL	(1ull << (SIGPIPE - 1))
#define SIZE_SIGNAL	(1ull << (SIGXFSZ - 1))

/* Send the process the signals of @set that are pending for this thread. */
static void pass_on(uint64_t set)
{
	static const struct timespec no_time;
	long nr;

	while (set) {
		nr = cosy_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&no_time, sizeof(set), 0, 0);
		if (nr <= 0)
			return;
		cosy_sys(SYS_kill, cosy_sys(SYS_getpid, 0, 0, 0), nr, 0);
		set &= ~(1ull << (nr - 1));
	}
}

static uint64_t signal_of(long result)
{
	return result == -EPIPE ? PIPE_SIGNAL : result == -EFBIG ? SIZE_SIGNAL : 0;
}

void cosy_pass_signal_on(long result)
{
	pass_on(signal_of(result));
}

/* Return the signals that a call may have raised. */
static uint64_t signals_of(const struct cosy_slot *s, long result)
{
	bool sends = s->how == COSY_HOW_WRITE || s->how == COSY_HOW_SEND || s->how == COSY_HOW_THREAD ||
		     s->how == COSY_HOW_IN_SHARE;

	/* A call that has transferred a part returns its size, and raises the signal, too. */
	return result > 0 && sends && !s->on_disk ? PIPE_SIGNAL : signal_of(result);
}

void cosy_thread_args(const struct cosy_loop *loop, uint32_t slot, uint64_t args[6])
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	uint64_t done = loop->slots.all[slot].done;

	memcpy(args, entry->args, sizeof(entry->args));
	if (done)
		cosy_skip(args, entry->nr, done);
}

/* Finish an entry whose call this thread has made. @signals: those that it may have raised. */
static void call_made(struct cosy_loop *loop, uint32_t slot, int64_t result, uint64_t signals)
{
	cosy_above.made(loop, slot, result);
	/* With the lock, so that a thread that waits gets this result, and not -EINTR. */
	pass_on(signals);
	cosy_loop_tell(loop);
}

static void make_call(struct cosy_caller *caller, uint32_t slot)
{
	struct cosy_loop *loop = caller->pool->loop;
	uint32_t nr = loop->page.entries[slot].nr;
	uint64_t args[6];
	long result;

	cosy_thread_args(loop, slot, args);
	loop->slots.all[slot].state = COSY_SLOT_RUNNING;
	loop->threads.calling++;
	caller->slot = slot;
	loop->info.handed_over++;
	cosy_loop_leave(loop);
	__atomic_store_n(&caller->begins, true, __ATOMIC_RELEASE);
	result = cosy_slot_call(&loop->slots.all[slot], nr, args);
	cosy_lock(&loop->lock);
	loop->threads.calling--;
	caller->slot = COSY_NO_SLOT;
	caller->begins = false;
	call_made(loop, slot, result, signals_of(&loop->slots.all[slot], result));
}

/* Remove an entry from the list of those lent to the module. */
static void lent_no_longer(struct cosy_loop *loop, uint32_t slot)
{
	cosy_queue_remove(loop->slots.all, &pool_of(loop, slot)->lent, slot);
	loop->slots.all[slot].lent = false;
}

/* Wait in the module, and make calls there. Releases the lock meanwhile. */
static void work_in_module(struct cosy_caller *caller)
{
	struct cosy_pool *pool = caller->pool;
	struct cosy_loop *loop = pool->loop;
	int64_t result;
	uint32_t slot;

	pool->idle++;
	pool->inside++;
	slot = cosy_module_work(loop, pool == &loop->threads.waits);
	pool->inside--;
	pool->idle--;
	if (slot == COSY_NO_SLOT)
		return;
	lent_no_longer(loop, slot);
	if (!cosy_module_take(loop, slot, &result)) {
		if (!loop->slots.all[slot].cancelled) {
			make_call(caller, slot);
			return;
		}
		result = -ECANCELED;
	}
	loop->info.handed_over++;
	/* The thread may have left the module for such a signal. */
	call_made(loop, slot, result, PIPE_SIGNAL | SIZE_SIGNAL);
}

/* Wait for work. Releases the lock meanwhile. */
static void wait_for_work(struct cosy_caller *caller)
{
	struct cosy_pool *pool = caller->pool;
	struct cosy_loop *loop = pool->loop;

	if (cosy_module_has(loop, COSY_MODULE_THREADS)) {
		/* No entry is queued, so the threads need not leave the module. */
		cosy_module_recall(loop, pool == &loop->threads.waits, false);
		work_in_module(caller);
		return;
	}
	pool->idle++;
	cosy_event_wait(&pool->work, &loop->lock, UINT64_MAX);
	pool->idle--;
}

static void *thread_main(void *arg)
{
	struct cosy_caller *caller = arg;
	struct cosy_pool *pool = caller->pool;
	struct cosy_loop *loop = pool->loop;
	uint32_t slot;

	cosy_lock(&loop->lock);
	caller->tid = (int32_t)cosy_sys(SYS_gettid, 0, 0, 0);
	for (;;) {
		while (pool->queued.head == COSY_NO_SLOT && !loop->closing)
			wait_for_work(caller);
		slot = pool->queued.head;
		if (slot == COSY_NO_SLOT)
			break;
		cosy_queue_remove(loop->slots.all, &pool->queued, slot);
		make_call(caller, slot);
	}
	cosy_unlock(&loop->lock);
	return NULL;
}

/* @stack: 0 for the default size. */
static int create(pthread_t *thread, void *(*main)(void *), void *arg,
		  const cpu_set_t *cpus, size_t stack)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	if (cpus)
		pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
	err = pthread_create(thread, &attr, main, arg);
	pthread_attr_destroy(&attr);
	return err;
}

int cosy_thread_start(pthread_t *thread, void *(*main)(void *), void *arg,
		      const cpu_set_t *cpus)
{
	sigset_t all, mask;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	err = create(thread, main, arg, cpus, STACK_SIZE);
	/* The program's thread-local variables need a larger stack. */
	if (err == EINVAL)
		err = create(thread, main, arg, cpus, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return err;
}

void cosy_thread_join(pthread_t thread)
{
	int state;

	/* pthread_join() is a cancellation point, the functions that destroy loops are not. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_join(thread, NULL);
	pthread_setcancelstate(state, NULL);
}

/* Return 0 or -errno. */
static int start_thread(struct cosy_pool *pool)
{
	struct cosy_caller *caller;
	int err;

	if (!pool->callers)
		pool->callers = calloc(pool->max, sizeof(*pool->callers));
	if (!pool->callers)
		return -ENOMEM;
	caller = &pool->callers[pool->threads];
	*caller = (struct cosy_caller){ .pool = pool, .slot = COSY_NO_SLOT };
	err = -cosy_thread_start(&caller->id, thread_main, caller, pool->loop->threads.allowed);
	if (!err)
		pool->threads++;
	return err;
}

/* Give an entry to a thread in user mode. */
static void queue_call(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t slot)
{
	loop->slots.all[slot].state = COSY_SLOT_QUEUED;
	cosy_queue_add(loop->slots.all, &pool->queued, slot);
	if (pool->inside)
		cosy_module_recall(loop, pool == &loop->threads.waits, true);
	if (pool->idle)
		cosy_event_happened(&pool->work, 1);
}

/* Return true if the call has a time limit, or ends at a signal. */
static bool is_timed(enum cosy_how how)
{
	return how == COSY_HOW_TIMED || how == COSY_HOW_POLL || how == COSY_HOW_SLEEP ||
	       how == COSY_HOW_SIGNAL;
}

static void lend(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];
	uint64_t args[6];
	uint8_t flags = 0;

	if (pool == &loop->threads.waits)
		flags |= COSY_ENTRY_LONG;
	/*
	 * The kernel restarts such a call after a signal with the remaining time; the module
	 * cannot.
	 */
	if (is_timed((enum cosy_how)s->how))
		flags |= COSY_ENTRY_TAKE;
	cosy_thread_args(loop, slot, args);
	s->lent = true;
	cosy_queue_add(loop->slots.all, &pool->lent, slot);
	cosy_module_lend(loop, slot, flags, args);
}

int cosy_thread_add(struct cosy_loop *loop, uint32_t slot, bool disk)
{
	struct cosy_pool *pool = disk ? &loop->threads.disk : &loop->threads.waits;
	int err = 0;

	if (pool->idle <= pool->queued.count + pool->lent.count && pool->threads < pool->max)
		err = start_thread(pool);
	if (err && !pool->threads)
		return err;
	loop->slots.all[slot].on_disk = disk;
	/* The module makes the calls in the process's table. */
	if (cosy_module_has(loop, COSY_MODULE_THREADS) && !cosy_slot_is_in_share(loop, slot))
		lend(loop, pool, slot);
	else
		queue_call(loop, pool, slot);
	return 0;
}

void cosy_thread_cancel(struct cosy_loop *loop, uint32_t slot)
{
	cosy_queue_remove(loop->slots.all, &pool_of(loop, slot)->queued, slot);
}

void cosy_thread_returned(struct cosy_loop *loop, uint32_t slot, bool made)
{
	lent_no_longer(loop, slot);
	if (made)
		loop->info.handed_over++;
	else
		queue_call(loop, pool_of(loop, slot), slot);
}

int cosy_thread_cancel_lent(struct cosy_loop *loop, uint32_t slot)
{
	int err = cosy_module_cancel_lent(loop, slot);

	if (!err)
		lent_no_longer(loop, slot);
	return err;
}

static uint32_t pool_running(const struct cosy_loop *loop, const struct cosy_pool *pool)
{
	uint32_t n = 0;

	for (uint32_t slot = pool->lent.head; slot != COSY_NO_SLOT;
	     slot = loop->slots.all[slot].queue_next)
		n += cosy_module_is_running(loop, slot);
	return n;
}

uint32_t cosy_threads_running(const struct cosy_loop *loop)
{
	return pool_running(loop, &loop->threads.disk) + pool_running(loop, &loop->threads.waits);
}

/* Return false if the kernel says that a thread waits. */
static bool runs(const struct cosy_caller *caller)
{
	char path[48], line[128], *state;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", caller->tid);
	fd = cosy_sys(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = cosy_sys(SYS_read, fd, (long)line, sizeof(line) - 1);
	cosy_sys(SYS_close, fd, 0, 0);
	if (n <= 0)
		return false;
	line[n] = 0;
	/* A thread that is stopped, e.g. by strace, may not have begun. */
	state = strrchr(line, ')');
	return state && state[1] == ' ' && strchr("RtT", state[2]);
}

void cosy_caller_let_begin(const struct cosy_caller *caller)
{
	while (caller->slot != COSY_NO_SLOT &&
	       !__atomic_load_n(&caller->begins, __ATOMIC_ACQUIRE))
		cosy_pause();
	/*
	 * If the thread waits now, then in its call, where the kernel has looked the descriptor up, or
	 * after it, for the lock. CPU time says nothing: in a VM, it also counts time of the host.
	 */
	while (runs(caller))
		cosy_pause();
}

void cosy_pool_end(struct cosy_loop *loop, struct cosy_pool *pool)
{
	cosy_event_happened(&pool->work, INT_MAX);
	if (pool->inside)
		cosy_module_recall(loop, pool == &loop->threads.waits, true);
	/* Until they have ended, the program must not unload the library that contains this file. */
	while (pool->threads) {
		cosy_loop_leave(loop);
		cosy_thread_join(pool->callers[pool->threads - 1].id);
		cosy_lock(&loop->lock);
		pool->threads--;
	}
}
