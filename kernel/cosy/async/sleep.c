// SPDX-License-Identifier: GPL-2.0
/*
 * sleep.c - a thread sleeps in a loop until there is something to execute, and executes it.
 *
 * So a compound that is parked goes on without a return to user mode between its wake-up
 * and its next wait. The thread sleeps as one in poll() does, for the loop and for one
 * more file. While it sleeps other threads may enter.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <cosy/exec.h>

#include "async/loop.h"
#include "call/call.h"
#include "fast/calls.h"

/* After so many wake-ups a thread leaves for a moment, as a call in a loop would. */
#define COSY_SLEEP_ROUNDS	256

/* Let the file that the process has named wake the thread. Return: does it have events? */
static bool cosy_sleep_watch(struct poll_wqueues *watch, int fd)
{
	__poll_t events = EPOLLNVAL;
	struct cosy_fd other;

	poll_initwait(watch);
	if (fd == -1)
		return false;
	watch->pt._key = EPOLLIN | EPOLLRDNORM | EPOLLERR | EPOLLHUP;
	/* What is polled is held by what poll_freewait() frees. */
	other = cosy_fd_get(fd);
	if (other.file)
		events = vfs_poll(other.file, &watch->pt) & watch->pt._key;
	cosy_fd_put(other);
	return events || watch->error;
}

/*
 * Sleep until something that waits can be executed, and enter. Return: false if the thread
 * has to leave instead; @why says why.
 */
static bool cosy_sleep_once(struct cosy_loop *loop,
			    const struct poll_wqueues *watch, ktime_t *until,
			    u32 *why)
{
	bool entered = false;

	for (;;) {
		/* Those who wake this thread change first what is looked at here. */
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(watch->triggered))
			*why = COSY_ASYNC_READABLE;
		else if (signal_pending(current))
			*why = COSY_ASYNC_SIGNAL;
		else if (READ_ONCE(loop->page->done_head) ==
			 READ_ONCE(loop->done_tail))
			/* Whoever has entered wakes it when he leaves. */
			entered = !list_empty(&loop->ready) &&
				  cosy_loop_lock(loop);
		else
			break;
		if (*why || entered)
			break;
		if (!schedule_hrtimeout_range(until, current->timer_slack_ns,
					      HRTIMER_MODE_ABS)) {
			*why = COSY_ASYNC_TIMEOUT;
			break;
		}
	}
	__set_current_state(TASK_RUNNING);
	return entered;
}

/*
 * Return: is the thread to leave after it has executed something, although nothing has
 * completed? @why says why.
 */
static bool cosy_sleep_leaves(struct cosy_state *st, const ktime_t *until,
			      u32 *why)
{
	if (cosy_env_leave(cosy_env_self(st))) {
		*why = signal_pending(current) ? COSY_ASYNC_SIGNAL : 0;
		return true;
	}
	if (until && ktime_get() >= *until) {
		*why = COSY_ASYNC_TIMEOUT;
		return true;
	}
	/* A filter of another thread: the next calls would not be shown to it. */
	return cosy_seccomp_state() != st->env.seccomp;
}

/* Only one thread sleeps. Return: false if another one does. */
static bool cosy_sleeper_set(struct cosy_loop *loop,
			     struct wait_queue_entry *sleeper)
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
	/* Events have told this thread alone. */
	if (!list_empty(&loop->ready))
		cosy_loop_tell(loop);
}

/**
 * cosy_loop_sleep() - sleep until there is something to execute, and execute it
 * @loop:    the loop, entered; there is nothing to execute
 * @st:	     for calls
 * @max:     completions after which it ends, at least 1
 * @entered: set to whether it is still entered
 *
 * It is not entered while the thread sleeps.
 *
 * Return: the number of entries that have completed, COSY_ASYNC_READABLE and the like, 0, or
 * -EBUSY: another thread sleeps.
 */
int cosy_loop_sleep(struct cosy_loop *loop, struct cosy_state *st,
		    unsigned int max, bool *entered)
{
	struct wait_queue_entry sleeper = { .private = current };
	u64 end = READ_ONCE(loop->page->sleep_until);
	ktime_t at = end, *until = end < COSY_ASYNC_FOR_EVER ? &at : NULL;
	struct poll_wqueues watch __uninitialized;
	u32 why = COSY_ASYNC_READABLE;
	unsigned int done = 0, rounds;

	if (!cosy_sleeper_set(loop, &sleeper))
		return -EBUSY;
	if (!cosy_sleep_watch(&watch, READ_ONCE(loop->page->sleep_fd))) {
		why = 0;
		for (rounds = 0; rounds < COSY_SLEEP_ROUNDS; rounds++) {
			cosy_loop_unlock(loop);
			*entered = cosy_sleep_once(loop, &watch, until, &why);
			if (!*entered)
				break;
			done = cosy_loop_execute(loop, st, max);
			if (done || cosy_sleep_leaves(st, until, &why))
				break;
		}
	}
	poll_freewait(&watch);
	cosy_sleeper_clear(loop);
	return done ?: why;
}
