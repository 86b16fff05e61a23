/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * team.h - the structures of a team, and the protocol of its colours.
 *
 * A colour is idle, or active: queued on a worker, or run by one. Exactly one thread has an active
 * colour, and may write to it. First this is the thread that made it active and puts it into a queue;
 * then each thread that takes that queue's lock; then the worker that has taken it from the queue. The
 * protocol:
 *
 *  - Queue a callback: take the lock of the colour's bucket. If the colour is idle, make it active,
 *    put the callback into @local, release the lock, and put the colour into the queue of its worker.
 *    If it is active, put the callback into @shared.
 *  - Queue a callback of the colour that this worker runs: if @shared is empty, add it to @local,
 *    without a lock. A callback that was queued before, as far as this worker can know, would be in
 *    @shared already, or have been moved. So all of @local is before all of @shared.
 *  - Run a colour: take callbacks from @local without a lock. If it is empty, take the bucket's lock.
 *    Move all of @shared to @local; or, if that is empty, make the colour idle. After TURN callbacks
 *    the colour goes to the end of the queue, if others are queued.
 *  - Steal: take colours from the end of another worker's queue, if its lock is free, write the
 *    thief's address to @worker, and put them into the thief's queue.
 *  - Sleep: set @asleep, then look into the queue under its lock, then sleep. A thread that adds to
 *    the queue does so under the lock, and then reads @asleep. So one of the two sees the other.
 *
 * Each callback that makes a colour active takes two atomic operations on the colour's bucket, and
 * two on the queue of its worker, whose lines other workers write only when they steal or send.
 * Further callbacks of an active colour take one or none.
 *
 * The structures of colours and calls that a worker uses are near each other in memory, and not among those
 * of another one: a worker that has short callbacks frees those that it got with stolen colours, and allocates
 * others. CPUs fetch lines near those that they use. If another CPU writes to these, each write waits until the line
 * is fetched back, although nothing is shared.
 *
 * A lock is held for some ten instructions, never during a system call or a callback. If its holder
 * is preempted, only threads that need the same bucket or queue wait.
 *
 * Lock order: a bucket, then a queue. Two queues are never locked at once.
 */
#ifndef COSY_TEAM_TEAM_H
#define COSY_TEAM_TEAM_H

#include <pthread.h>

#include "async/descriptor.h"
#include "device/export.h"
#include "team/colour.h"
#include "team/shown.h"
#include "team/tsan.h"

/* Workers are not bound to CPUs with higher numbers. */
#define TEAM_MAX_CPUS		1024u

/* In @lookout of a team */
#define TEAM_LOOKOUT_ASKED	UINT32_MAX

/* In cycles: a colour and what it needs come from another CPU's cache in less than that. */
#define TEAM_SHORT	3000u

/* In nanoseconds: how long a close waits for the answer of a worker that runs a callback. */
#define TEAM_PATIENCE	10000000u

/** enum team_state - what a worker has to do */
enum team_state {
	TEAM_RUNS,
	TEAM_RETIRES,	/* give its colours away; end when nothing is outstanding */
	TEAM_CLOSES,	/* cancel all operations, then continue */
	TEAM_CLOSED,	/* the same after that */
	TEAM_ENDS,	/* the thread has ended, or is about to */
};

/**
 * struct cosy_worker - a thread of a team
 * @team:      its team
 * @loop:      its loop
 * @thread:    the thread
 * @index:     its number
 * @cpu:       the CPU to which it is bound, or -1
 * @state:     enum team_state; other threads write it
 * @obeyed:    the last value of @state that it has seen
 * @busy:      it runs a callback, or is about to
 * @current:   the colour that it runs
 * @number:    number of that colour, for the watchdog
 * @added:     callbacks that its callbacks have queued; only the worker writes this and the counts below
 * @ran:       callbacks that it has run
 * @average:   average time for a turn of a colour, in cycles
 * @queue:     its queue
 * @cancels:   requests to cancel, under the lock of @queue
 * @answers_at: when it next checks whether others have answered its questions, in nanoseconds
 * @dropped:   calls that it has dropped
 * @oldest:    longest time that a call was queued, in milliseconds
 * @stolen:    colours that it has stolen
 * @sent:      colours that it has put into queues of others
 * @woken:     workers that it has woken
 * @atomics:   locks that it has taken, of colours and queues
 * @shared:    those of these locks that another thread had taken before it
 * @taken:     colours that it has taken from its queue
 * @looked:    value of @ran when the lookout looked at it
 * @judged:    values of @ran and @shared when the worker last judged whether it gains by sharing work,
 *	       and the time that its turns have taken since then, in cycles
 * @pause:     time for which it does not steal if it does not gain, in cycles
 * @pauses_until: end of that time
 * @cycles:    when the current turn began
 * @random:    state of its random numbers
 * @calls:     free structures for calls
 * @ncalls:    number of @calls
 * @unpolled:  number of turns since it last looked at its loop
 * @has_thread: the thread was started and not joined
 * @is_lookout: it is the lookout
 * @saw_all:   all workers were asleep when it last looked, as the lookout
 * @uses_loop: something may be outstanding in its loop
 * @asleep:    it sleeps, or is about to
 * @drained:   while it sleeps: nothing is outstanding in its loop
 * @share:     its share, or NULL
 * @shown:     its line in what cosy stat shows
 */
struct cosy_worker {
	struct cosy_team *team;
	struct cosy_loop *loop;
	pthread_t thread;
	uint32_t index;
	int cpu;
	uint32_t state;
	uint32_t obeyed;
	uint32_t busy;
	struct team_colour *current;
	uint64_t number;
	uint64_t added;
	uint64_t ran;
	uint64_t dropped;
	uint64_t oldest;
	uint64_t answers_at;
	uint64_t stolen;
	uint64_t sent;
	uint64_t woken;
	uint64_t atomics;
	uint64_t shared;
	uint64_t taken;
	uint64_t looked;
	struct {
		uint64_t ran;
		uint64_t shared;
		uint64_t cycles;
	} judged;
	uint64_t pause;
	uint64_t pauses_until;
	uint64_t cycles;
	uint64_t average;
	uint64_t random;
	struct cosy_share *share;
	struct team_shown_worker *shown;
	struct team_call *calls;
	uint32_t ncalls;
	uint32_t unpolled;
	bool has_thread;
	bool is_lookout;
	bool saw_all;
	bool uses_loop;

	struct team_queue queue __attribute__((aligned(TEAM_LINE)));
	struct team_cancel *cancels;

	uint32_t asleep __attribute__((aligned(TEAM_LINE)));
	uint32_t drained;
} __attribute__((aligned(TEAM_LINE)));

/**
 * struct cosy_team - workers
 * @alive:     in a child, 0
 * @options:   as they were given; @workers is the number of workers that take colours
 * @buckets:   the colours
 * @group:     the loops of the workers; a worker's member number is its own + 1
 * @workers:   the workers, also those that retire; NULL after the last one
 * @nworkers:  number of @workers
 * @random:    the seed; 0: no random order
 * @watched:   there is a watchdog
 * @watch:     the watchdog's thread
 * @watch_ends: the watchdog has to end
 * @alone:     a callback of COSY_COLOUR_ALONE runs or is about to run
 * @fenced:    the kernel has no membarrier(2), so workers have to order their memory themselves
 * @stopped:   cosy_team_stop() was called
 * @closing:   it is being destroyed
 * @asleep:    number of workers that sleep
 * @threads:   number of workers that have a thread: those that have retired have none
 * @lookout:   number + 1 of the worker that looks for work every millisecond; 0: there is none;
 *	       TEAM_LOOKOUT_ASKED: a worker was woken that becomes it
 * @waiters:   threads in cosy_team_wait()
 * @event:     changes when the team may be quiet
 * @added:     callbacks that other threads have queued
 * @resizing:  a thread is in cosy_team_resize()
 * @shown:     what cosy stat shows
 * @shown_fd:  descriptor of its file, or negative
 * @shown_inode: the file's number
 */
struct cosy_team {
	const int *alive;
	struct cosy_team_options options;
	struct cosy_loop_options loop;
	struct team_bucket *buckets;
	struct cosy_group group;
	struct cosy_worker *workers[COSY_TEAM_MAX];
	uint32_t nworkers;
	uint64_t random;
	bool fenced;
	bool watched;
	pthread_t watch;
	struct team_shown *shown;
	int shown_fd;
	uint64_t shown_inode;

	uint32_t alone __attribute__((aligned(TEAM_LINE)));
	uint32_t stopped;
	uint32_t closing;

	uint32_t asleep __attribute__((aligned(TEAM_LINE)));
	uint32_t threads;
	uint32_t lookout;
	uint32_t waiters;
	uint32_t event;

	uint64_t added __attribute__((aligned(TEAM_LINE)));
	uint32_t resizing;
	uint32_t watch_ends;
};

/* The worker that the calling thread is, or NULL. */
extern COSY_TLS __thread struct cosy_worker *cosy_worker_self;

/*
 * Counts and flags that one thread writes and others read. Nothing else depends on their values,
 * unless the reader says so.
 */
#define team_get(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define team_set(p, value)	__atomic_store_n(p, value, __ATOMIC_RELAXED)
#define team_count(p)		team_set(p, team_get(p) + 1)

/* The same for values that publish others. */
#define team_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define team_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)

/** team_count_atomic() - count that this worker has taken a lock */
static inline void team_count_atomic(struct team_lock *lock)
{
	struct cosy_worker *self = cosy_worker_self;
	const uint32_t number = self ? self->index + 1 : 0;

	if (self)
		team_count(&self->atomics);
	if (lock->last == number)
		return;
	lock->last = number;
	if (self)
		team_count(&self->shared);
}

/** team_lock() - take a lock, and count that */
static inline void team_lock(struct team_lock *lock)
{
	cosy_lock(&lock->lock);
	team_count_atomic(lock);
}

static inline void team_unlock(struct team_lock *lock)
{
	cosy_unlock(&lock->lock);
}

/** team_cycles() - a clock for estimates */
static inline uint64_t team_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

/** team_stays() - test whether a colour has to stay on its worker */
static inline bool team_stays(const struct team_colour *colour)
{
	return colour->at_loop || team_get(&colour->stays) ||
	       team_get(&colour->begun) != team_get(&colour->ended);
}

/* futex.c */

/** team_sleep() - sleep while *@word is @value, at most @ns nanoseconds; UINT64_MAX: for ever */
void team_sleep(uint32_t *word, uint32_t value, uint64_t ns);

/** team_wake() - wake all threads that sleep for @word */
void team_wake(uint32_t *word);

/* shown.c */

/** team_shown_create() - make what cosy stat shows of a team; returns false if there is no memory */
bool team_shown_create(struct cosy_team *team);

/** team_shown_destroy() - undo team_shown_create() */
void team_shown_destroy(struct cosy_team *team);

/** team_show_queues() - show the lengths of all queues */
void team_show_queues(struct cosy_team *team);

/** team_show_awake() - show since when a worker runs a turn; 0: it sleeps */
static inline void team_show_awake(struct cosy_worker *worker, uint64_t since)
{
	team_set(&worker->shown->since, since);
}

/** team_show_turn() - show what a worker has done */
static inline void team_show_turn(struct cosy_worker *worker)
{
	struct team_shown_worker *shown = worker->shown;

	team_set(&shown->ran, worker->ran);
	team_set(&shown->stolen, worker->stolen);
	team_set(&shown->sent, worker->sent);
	team_set(&shown->dropped, worker->dropped);
	team_set(&shown->oldest_ms, worker->oldest);
	team_set(&shown->queued, (uint32_t)team_get(&worker->queue.count));
}

/* queue.c */

/** team_queue_add() - put an active colour into the queue of its worker, and wake one if needed */
void team_queue_add(struct cosy_team *team, struct team_colour *colour);

/** team_queue_take() - take a colour from the queue of this worker, or NULL */
struct team_colour *team_queue_take(struct cosy_worker *worker);

/** team_queue_steal() - steal colours; returns one of them, or NULL */
struct team_colour *team_queue_steal(struct cosy_worker *worker);

/** team_queue_empty() - give all colours of the queue to other workers */
void team_queue_empty(struct cosy_worker *worker);

/** team_pass_lookout() - let another worker become the lookout, because this one has work */
void team_pass_lookout(struct cosy_team *team);

/** team_worker_wake() - wake a worker if it sleeps; returns true if it did */
bool team_worker_wake(struct cosy_worker *worker);

/* worker.c */

/** team_worker_main() - what the thread of a worker does */
void *team_worker_main(void *worker);

/** team_begin() - before a worker runs a colour: wait while another callback runs alone */
void team_begin(struct cosy_worker *worker, const struct team_colour *colour);

/** team_end() - undo team_begin() after that colour */
void team_end(struct cosy_worker *worker);

/* call.c */

/** team_call_done() - queue the callback of an operation in colour 0; aborts without memory */
void team_call_done(struct cosy_team *team, struct cosy_async *op);

/** team_call_free() - free the structure of a call */
void team_call_free(struct cosy_worker *worker, struct team_call *call);

/* size.c */

/** team_default_size() - return the number of workers by default; @allowed: CPUs, 0 if unknown */
uint32_t team_default_size(uint32_t allowed);

/* watch.c */

/** team_watch() - the thread that looks for callbacks that do not return */
void *team_watch(void *team);

#endif /* COSY_TEAM_TEAM_H */
