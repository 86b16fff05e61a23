// SPDX-License-Identifier: GPL-2.0
/*
 * sleep.c - lets a thread sleep in a loop until entries can be executed, and execute them.
 *
 * So a parked compound continues without a return to user mode between its wake-up and its next
 * wait. The thread waits for the loop and for one more file, as in poll(). While it sleeps, other
 * threads may enter.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <cosy/exec.h>

#include "async/loop.h"
#include "async/ring.h"
#include "call/call.h"

/*
 * After this number of wake-ups, or of compounds continued, a thread returns: one call does not
 * last for ever, and the process learns how many are continued at once.
 */
#define COSY_SLEEP_ROUNDS	256

/**
 * struct cosy_watch - the file for which the thread also waits
 * @table:     passed to the file's poll()
 * @wait:      link in the file's wait queue
 * @queue:     the queue, or NULL
 * @file:      the file, or NULL. Held, so that its queue stays
 * @asleep:    the thread sleeps, so events have to wake it
 * @triggered: the file has had an event, or cannot be waited for
 *
 * poll() has a poll_wqueues for this, which wakes its thread at any time. This thread makes calls
 * between its sleeps. They may sleep for something else, or end the object that has the queue.
 */
struct cosy_watch {
	poll_table table;
	struct wait_queue_entry wait;
	struct wait_queue_head *queue;
	struct file *file;
	bool asleep;
	bool triggered;
};

#define COSY_WATCH_EVENTS	(EPOLLIN | EPOLLRDNORM | EPOLLERR | EPOLLHUP)

/* Called with the lock of the queue. */
static int cosy_watch_wake(struct wait_queue_entry *wait, unsigned int mode,
			   int flags, void *key)
{
	struct cosy_watch *watch = container_of(wait, struct cosy_watch, wait);
	__poll_t events = key_to_poll(key);
	int woken = 0;

	if (events && !(events & (COSY_WATCH_EVENTS | POLLFREE)))
		return 0;
	WRITE_ONCE(watch->triggered, true);
	/* Pairs with cosy_sleep_once(), which sets @asleep before it checks @triggered. */
	smp_mb();
	if (READ_ONCE(watch->asleep))
		woken = default_wake_function(wait, mode, flags, key);
	if (events & POLLFREE) {
		/* The queue is freed after an RCU grace period. */
		list_del_init(&wait->entry);
		/*
		 * After this store cosy_watch_end() does not take the queue's lock, so @watch
		 * may be gone.
		 */
		smp_store_release(&watch->queue, NULL);
	}
	return woken;
}

static void cosy_watch_queue(struct file *file, struct wait_queue_head *queue,
			     poll_table *table)
{
	struct cosy_watch *watch = container_of(table, struct cosy_watch, table);

	if (watch->queue) {
		watch->triggered = true;
		return;
	}
	watch->queue = queue;
	add_wait_queue(queue, &watch->wait);
}

static void cosy_watch_begin(struct cosy_watch *watch, int fd)
{
	*watch = (struct cosy_watch){};
	init_waitqueue_func_entry(&watch->wait, cosy_watch_wake);
	watch->wait.private = current;
	if (fd == -1)
		return;
	watch->file = fget(fd);
	init_poll_funcptr(&watch->table, cosy_watch_queue);
	watch->table._key = COSY_WATCH_EVENTS;
	if (!watch->file || vfs_poll(watch->file, &watch->table) & COSY_WATCH_EVENTS)
		WRITE_ONCE(watch->triggered, true);
}

static void cosy_watch_end(struct cosy_watch *watch)
{
	struct wait_queue_head *queue;

	rcu_read_lock();
	/* RCU keeps the queue while its lock is taken. */
	queue = smp_load_acquire(&watch->queue);
	if (queue)
		remove_wait_queue(queue, &watch->wait);
	rcu_read_unlock();
	if (watch->file)
		fput(watch->file);
}

/* Note whether the thread sleeps, so that events wake it. @ring: NULL: for the page of the loop. */
static __always_inline void cosy_sleeper_is(struct cosy_loop *loop, struct cosy_ring *ring,
					    struct cosy_watch *watch, bool asleep)
{
	if (ring) {
		WRITE_ONCE(ring->asleep, asleep);
	} else {
		spin_lock_irq(&loop->ready_lock);
		loop->sleeper->asleep = asleep;
		spin_unlock_irq(&loop->ready_lock);
	}
	if (watch)
		WRITE_ONCE(watch->asleep, asleep);
}

/* Return true once after a kick. A kick before the sleep also counts: see cosy_loop_flush(). */
static __always_inline bool cosy_was_kicked(bool *kicked)
{
	bool was = READ_ONCE(*kicked);

	if (was)
		WRITE_ONCE(*kicked, false);
	return was;
}

/*
 * Return true if there is work for the thread. It has entered to execute the work, or has to return
 * to user mode.
 */
static __always_inline bool cosy_sleep_has_work(struct cosy_loop *loop, struct cosy_ring *ring)
{
	if (ring) {
		if (!cosy_ring_has_fired(ring))
			return false;
		/* If another thread has entered, this one has to enter again. */
		cosy_loop_lock(loop);
		return true;
	}
	if (cosy_ring_has_fired(READ_ONCE(loop->ring)) ||
	    READ_ONCE(loop->page->done_head) != READ_ONCE(loop->done_tail))
		return true;
	/* If another thread has entered, it wakes this one when it leaves. */
	return !list_empty(&loop->ready) && cosy_loop_lock(loop);
}

/*
 * Sleep until an entry can be executed, and enter. @ring: NULL: for the page. @watch: NULL if there
 * is no file. Return false if the thread has to return to user mode instead. @why is set to the
 * reason, unless it was kicked or there are completions.
 */
static __always_inline bool cosy_sleep_once(struct cosy_loop *loop, struct cosy_ring *ring,
					    struct cosy_watch *watch, ktime_t *until, u32 *why)
{
	cosy_sleeper_is(loop, ring, watch, true);
	for (;;) {
		/* Wakers change what is checked below before they wake this thread. */
		set_current_state(TASK_INTERRUPTIBLE);
		if (watch && READ_ONCE(watch->triggered))
			*why = COSY_ASYNC_READABLE;
		else if (signal_pending(current))
			*why = COSY_ASYNC_SIGNAL;
		if (*why || cosy_was_kicked(ring ? &ring->kicked : &loop->kicked) ||
		    cosy_sleep_has_work(loop, ring))
			break;
		if (!schedule_hrtimeout_range(until, current->timer_slack_ns,
					      HRTIMER_MODE_ABS)) {
			*why = COSY_ASYNC_TIMEOUT;
			break;
		}
	}
	__set_current_state(TASK_RUNNING);
	cosy_sleeper_is(loop, ring, watch, false);
	return cosy_loop_is_inside(loop);
}

/*
 * Return true if the thread has to return to user mode although no entry has completed. @seccomp:
 * its state when the thread entered. @why is set to COSY_ASYNC_TIMEOUT if that is the reason.
 * Submitted entries may be left because there were too many, or because of a signal; nothing would
 * wake the thread for these.
 */
static __always_inline bool cosy_sleep_leaves(struct cosy_loop *loop, struct cosy_ring *ring,
					      u64 seccomp, const ktime_t *until, u32 *why)
{
	if (ring ? cosy_ring_has_more(ring) :
		   loop->submit_head != READ_ONCE(loop->page->submit_tail))
		return true;
	if (until && ktime_get() >= *until) {
		*why = COSY_ASYNC_TIMEOUT;
		return true;
	}
	/* Also after another thread has added a seccomp filter, which has to see the next calls. */
	return cosy_env_leave(current_thread_info()) || cosy_seccomp_state() != seccomp ||
	       atomic_read(&loop->waiters) || cosy_loop_is_lost(loop);
}

/* Set @at to the end of a sleep of @ns that begins now. Return @at, or NULL if it never ends. */
static __always_inline ktime_t *cosy_sleep_end(u64 ns, ktime_t *at)
{
	if (ns >= COSY_ASYNC_FOR_EVER)
		return NULL;
	*at = ktime_add_safe(ktime_get(), ns_to_ktime(ns));
	return at;
}

/* Register as the sleeping thread. Return false if another thread is registered. */
static bool cosy_sleeper_set(struct cosy_loop *loop,
			     struct cosy_sleeper *sleeper)
{
	bool set;

	spin_lock_irq(&loop->ready_lock);
	set = !loop->sleeper;
	if (set)
		loop->sleeper = sleeper;
	spin_unlock_irq(&loop->ready_lock);
	return set;
}

static void cosy_sleeper_clear(struct cosy_loop *loop)
{
	spin_lock_irq(&loop->ready_lock);
	loop->sleeper = NULL;
	spin_unlock_irq(&loop->ready_lock);
	/* Recent events have woken only this thread: wake the others. */
	if (!list_empty(&loop->ready))
		cosy_loop_tell(loop, 0);
}

/**
 * cosy_loop_sleep() - sleep until entries can be executed, and execute them
 * @loop: the loop, entered; entries have just been executed
 * @st:	  initialised by cosy_loop_state()
 * @max:  stop after this number of completions, at least 1
 *
 * The loop is not entered while the thread sleeps, and may not be on return:
 * cosy_loop_is_inside().
 *
 * Return: the number of completed entries; COSY_ASYNC_READABLE, COSY_ASYNC_SIGNAL or
 * COSY_ASYNC_TIMEOUT; 0; or -EBUSY if another thread sleeps in the loop.
 */
int cosy_loop_sleep(struct cosy_loop *loop, struct cosy_state *st, unsigned int max)
{
	struct cosy_sleeper sleeper = { .wait.private = current };
	struct cosy_watch watch __uninitialized;
	const u32 resumed = loop->resumed;
	unsigned int done = 0, rounds;
	ktime_t at, *until;
	u32 why = 0;

	if (!cosy_sleeper_set(loop, &sleeper))
		return -EBUSY;
	until = cosy_sleep_end(READ_ONCE(loop->page->sleep_ns), &at);
	cosy_watch_begin(&watch, READ_ONCE(loop->page->sleep_fd));
	for (rounds = 0; rounds < COSY_SLEEP_ROUNDS; rounds++) {
		if (cosy_sleep_leaves(loop, NULL, st->env.seccomp, until, &why) ||
		    loop->resumed - resumed >= COSY_SLEEP_ROUNDS)
			break;
		WRITE_ONCE(loop->sleeps, loop->sleeps + 1);
		cosy_loop_unlock(loop);
		if (!cosy_sleep_once(loop, NULL, &watch, until, &why))
			break;
		done = cosy_loop_execute(loop, st, max);
		if (done)
			break;
	}
	cosy_watch_end(&watch);
	cosy_sleeper_clear(loop);
	return done ?: why;
}

/**
 * cosy_ring_sleep() - the same for the entries of a ring
 * @ring:    the ring, entered; entries have just been executed
 * @max:     as for cosy_ring_execute()
 * @seccomp: cosy_seccomp_state() when the thread entered
 *
 * Return: as cosy_loop_sleep().
 */
int cosy_ring_sleep(struct cosy_ring *ring, unsigned int max, u64 seccomp)
{
	const int fd = READ_ONCE(ring->page->sleep_fd);
	struct cosy_watch watch __uninitialized;
	struct cosy_loop *loop = ring->loop;
	unsigned int done = 0, rounds;
	ktime_t at, *until;
	u32 why = 0;

	if (READ_ONCE(ring->sleeping))
		return -EBUSY;
	WRITE_ONCE(ring->sleeping, true);
	/* Before @asleep is set for the first time. */
	WRITE_ONCE(ring->sleeper.private, current);
	until = cosy_sleep_end(READ_ONCE(ring->page->sleep_ns), &at);
	if (fd != -1)
		cosy_watch_begin(&watch, fd);
	for (rounds = 0; rounds < COSY_SLEEP_ROUNDS; rounds++) {
		if (cosy_sleep_leaves(loop, ring, seccomp, until, &why))
			break;
		WRITE_ONCE(loop->sleeps, loop->sleeps + 1);
		cosy_loop_unlock(loop);
		if (!cosy_sleep_once(loop, ring, fd != -1 ? &watch : NULL, until, &why))
			break;
		done = cosy_ring_execute(ring, max, true);
		if (done || READ_ONCE(ring->page->ngiven))
			break;
	}
	if (fd != -1)
		cosy_watch_end(&watch);
	WRITE_ONCE(ring->sleeping, false);
	/* Recent events have woken only this thread. Pairs with the barrier of llist_add(). */
	smp_mb();
	if (cosy_ring_has_fired(ring) && cosy_loop_has_sleeper(loop))
		cosy_loop_tell(loop, 0);
	return done ?: why;
}
