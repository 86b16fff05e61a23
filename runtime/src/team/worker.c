/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * worker.c - the threads of a team.
 *
 * A worker runs colours from its queue. It looks at its loop from time to time, and when the queue is
 * empty; callbacks of operations that are complete go to their colours' queues. If there is nothing
 * to do, it steals; if there is nothing to steal, it sleeps in its loop, or for a futex if nothing is
 * outstanding there.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <cosy/share.h>

#include "async/cancel.h"
#include "async/colour.h"
#include "async/cpus.h"
#include "async/create.h"
#include "async/inline.h"
#include "async/lock.h"
#include "async/loop.h"
#include "device/message.h"
#include "device/sys.h"
#include "team/team.h"

COSY_TLS __thread struct cosy_worker *cosy_worker_self;

/* Number of turns that are run before the loop is polled. */
#define POLL_EVERY	64u
/* In nanoseconds: how often the lookout looks. */
#define LOOK_EVERY	1000000u
/* In cycles: after a turn that takes longer, the loop is polled, too. */
#define LONG_SINCE_POLL	100000u

/* Number of turns after which a worker judges whether sharing the work gains: a power of two. */
#define JUDGE_EVERY	64u
/* Sharing does not gain if one in this number of callbacks uses a line that another worker has written. */
#define MANY_SHARED	8u
/* In cycles */
#define MIN_PAUSE	2000000u
#define MAX_PAUSE	200000000u

static void fence(const struct cosy_team *team)
{
	/* The thread that sets @alone calls membarrier(2), which orders the memory of the workers. */
	if (team->fenced)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Let no other worker run a callback until alone_ends(). */
static void alone_begins(struct cosy_worker *worker)
{
	struct cosy_team *team = worker->team;

	__atomic_store_n(&team->alone, 1, __ATOMIC_SEQ_CST);
	if (!team->fenced)
		cosy_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++) {
		struct cosy_worker *other = team->workers[i];

		while (other != worker && team_acquire(&other->busy))
			team_sleep(&other->busy, 1, UINT64_MAX);
	}
}

static void alone_ends(struct cosy_team *team)
{
	team_release(&team->alone, 0);
	team_wake(&team->alone);
}

/* Say that no callback runs, so that one can run alone. */
static void rest(struct cosy_worker *worker)
{
	team_release(&worker->busy, 0);
	fence(worker->team);
	if (COSY_UNLIKELY(team_get(&worker->team->alone)))
		team_wake(&worker->busy);
}

void team_begin(struct cosy_worker *worker, const struct team_colour *colour)
{
	struct cosy_team *team = worker->team;

	team_set(&worker->number, colour->number);
	for (;;) {
		team_set(&worker->busy, 1);
		fence(team);
		if (!COSY_UNLIKELY(team_acquire(&team->alone)))
			break;
		rest(worker);
		team_sleep(&team->alone, 1, UINT64_MAX);
	}
	if (COSY_UNLIKELY(colour->number == COSY_COLOUR_ALONE))
		alone_begins(worker);
}

void team_end(struct cosy_worker *worker)
{
	if (COSY_UNLIKELY(team_get(&worker->number) == COSY_COLOUR_ALONE))
		alone_ends(worker->team);
	rest(worker);
}

/* Look at the loop. Return true if operations were complete. */
static bool poll_loop(struct cosy_worker *worker)
{
	worker->unpolled = 0;
	return worker->uses_loop && cosy_wait(worker->loop, 0, NULL) > 0;
}

static bool is_outstanding(struct cosy_worker *worker)
{
	struct cosy_loop_info info;

	return !cosy_loop_info(worker->loop, &info, sizeof(info)) && info.outstanding;
}

/*
 * Judge whether sharing the work among several workers gains. If callbacks are short, and many use
 * lines that others have written, one worker alone is faster: this one does not steal for a while. It
 * tries again, because the program may do something else then.
 */
static void judge(struct cosy_worker *worker)
{
	const uint64_t ran = worker->ran - worker->judged.ran;
	const uint64_t shared = worker->shared - worker->judged.shared;
	const uint64_t cycles = worker->judged.cycles;

	worker->judged.ran = worker->ran;
	worker->judged.shared = worker->shared;
	worker->judged.cycles = 0;
	if (shared * MANY_SHARED < ran || cycles > ran * TEAM_SHORT) {
		worker->pause = 0;
		return;
	}
	worker->pause = worker->pause ? worker->pause * 2 : MIN_PAUSE;
	if (worker->pause > MAX_PAUSE)
		worker->pause = MAX_PAUSE;
	team_set(&worker->pauses_until, worker->cycles + worker->pause);
}

static void run_turn(struct cosy_worker *worker, struct team_colour *colour)
{
	uint64_t now, took;

	if (COSY_UNLIKELY(worker->is_lookout)) {
		worker->is_lookout = false;
		team_pass_lookout(worker->team);
	}
	team_set(&worker->shown->colour, colour->number);
	team_run(worker, colour);
	now = team_cycles();
	took = now - worker->cycles;
	worker->cycles = now;
	team_show_awake(worker, now);
	team_show_turn(worker);
	team_set(&worker->average, worker->average - worker->average / 8 + took / 8);
	worker->unpolled += took > LONG_SINCE_POLL ? POLL_EVERY : 1;
	worker->judged.cycles += took;
	if (!(worker->taken % JUDGE_EVERY))
		judge(worker);
}

/* Tell threads in cosy_team_wait() that the team may be quiet. */
static void tell_waiters(struct cosy_team *team)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!team_get(&team->waiters))
		return;
	__atomic_fetch_add(&team->event, 1, __ATOMIC_RELEASE);
	team_wake(&team->event);
}

/* Become the lookout if there is none. */
static void look_out(struct cosy_worker *worker, uint32_t expected)
{
	/* A worker that retires does not steal. */
	if (worker->obeyed != TEAM_RETIRES && team_get(&worker->team->lookout) == expected &&
	    __atomic_compare_exchange_n(&worker->team->lookout, &expected, worker->index + 1, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		worker->is_lookout = true;
}

/* Decide whether the worker sleeps as the lookout: one does, unless all have slept for a while. */
static bool looks_out(struct cosy_worker *worker)
{
	struct cosy_team *team = worker->team;
	bool all = team_get(&team->asleep) >= team_get(&team->threads);

	if (!worker->is_lookout && !all)
		look_out(worker, 0);
	if (!all) {
		worker->saw_all = false;
	} else if (worker->is_lookout && worker->saw_all) {
		worker->is_lookout = worker->saw_all = false;
		team_set(&team->lookout, 0);
	} else {
		worker->saw_all = worker->is_lookout;
	}
	return worker->is_lookout;
}

/* Sleep until the worker is woken, an operation is complete, or, as the lookout, for a while. */
static void sleep_now(struct cosy_worker *worker)
{
	const bool looks = looks_out(worker), asks = cosy_loop_asks(worker->loop);
	const struct timespec little = { .tv_nsec = looks ? LOOK_EVERY : TEAM_PATIENCE };
	int ret = 0;

	if (worker->uses_loop) {
		ret = cosy_wait(worker->loop, 1, looks || asks ? &little : NULL);
		if ((ret && ret != -EBADF) || !team_get(&worker->asleep))
			return;
		/*
		 * The wait has delivered nothing, because the worker was woken before, or because nothing is
		 * outstanding. Or the program has closed the loop's descriptors, and nothing completes.
		 */
		if (!ret && is_outstanding(worker))
			return;
		worker->uses_loop = false;
		/* The operations were the last reason not to end. */
		if (worker->obeyed == TEAM_RETIRES)
			return;
	}
	team_release(&worker->drained, 1);
	tell_waiters(worker->team);
	team_sleep(&worker->asleep, 1, looks ? LOOK_EVERY : UINT64_MAX);
	team_set(&worker->drained, 0);
}

/* Sleep, because there is nothing to do. */
static void idle(struct cosy_worker *worker)
{
	struct cosy_team *team = worker->team;
	bool due;

	team_show_awake(worker, 0);
	__atomic_store_n(&worker->asleep, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&team->asleep, 1, __ATOMIC_SEQ_CST);
	team_lock(&worker->queue.lock);
	due = worker->queue.count || worker->cancels;
	team_unlock(&worker->queue.lock);
	if (!due && team_acquire(&worker->state) == worker->obeyed)
		sleep_now(worker);
	if (__atomic_exchange_n(&worker->asleep, 0, __ATOMIC_ACQUIRE))
		__atomic_fetch_sub(&team->asleep, 1, __ATOMIC_RELAXED);
	/* It may have been woken to become the lookout. */
	look_out(worker, TEAM_LOOKOUT_ASKED);
	if (worker->is_lookout)
		team_show_queues(team);
	worker->cycles = team_cycles();
	team_show_awake(worker, worker->cycles);
}

/* Give away all colours that need not stay. Return true if the thread ends. */
static bool retire(struct cosy_worker *worker)
{
	uint32_t state = TEAM_RETIRES;
	bool ends = false;

	/* If it is the lookout, or was just asked to become it, let another worker be. */
	if (worker->is_lookout || team_get(&worker->team->lookout) == TEAM_LOOKOUT_ASKED)
		team_pass_lookout(worker->team);
	worker->is_lookout = false;
	team_queue_empty(worker);
	if (worker->uses_loop && is_outstanding(worker))
		return false;
	team_lock(&worker->queue.lock);
	if (!worker->queue.count && !worker->cancels)
		ends = __atomic_compare_exchange_n(&worker->state, &state, TEAM_ENDS, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	team_unlock(&worker->queue.lock);
	if (ends)
		tell_waiters(worker->team);
	return ends;
}

/* Cancel all operations, unless a thread makes a call that cannot be cancelled. */
static void close_loop(struct cosy_worker *worker)
{
	if (!cosy_cpus_quiesce(worker->loop))
		return;
	if (!cosy_loop_quiesce(worker->loop)) {
		cosy_cpus_go_on(worker->loop);
		return;
	}
	cosy_loop_close(worker->loop);
	worker->uses_loop = false;
	team_release(&worker->state, TEAM_CLOSED);
	tell_waiters(worker->team);
}

/* Do what the state asks for. Return true if the thread ends. */
static bool obey(struct cosy_worker *worker)
{
	worker->obeyed = team_acquire(&worker->state);
	switch (worker->obeyed) {
	case TEAM_RETIRES:
		return retire(worker);
	case TEAM_CLOSES:
		close_loop(worker);
		return false;
	case TEAM_ENDS:
		return true;
	default:
		return false;
	}
}

static void bind_to_cpu(const struct cosy_worker *worker)
{
	unsigned long mask[TEAM_MAX_CPUS / 64] = { 0 };

	if (worker->cpu < 0)
		return;
	mask[worker->cpu / 64] = 1ul << worker->cpu % 64;
	/* If the CPU was taken away meanwhile, the worker runs anywhere. */
	cosy_sys(SYS_sched_setaffinity, 0, sizeof(mask), (long)mask);
}

/* A callback has called pthread_exit(), or was cancelled. Its colour would never run again, nor the team end. */
static void abort_without_thread(void *unused)
{
	(void)unused;
	cosy_message("a callback of a team has ended its thread", NULL);
	abort();
}

/* Run colours and poll the loop, until the state ends it. */
static void work(struct cosy_worker *worker)
{
	while (!obey(worker)) {
		struct team_colour *colour;

		if (team_get(&worker->cancels))
			team_make_cancels(worker);
		if (COSY_UNLIKELY(cosy_loop_asks(worker->loop)))
			team_answer_overdue(worker);
		if (worker->unpolled >= POLL_EVERY)
			poll_loop(worker);
		colour = team_queue_take(worker);
		if (!colour && poll_loop(worker))
			colour = team_queue_take(worker);
		if (!colour)
			colour = team_queue_steal(worker);
		if (colour)
			run_turn(worker, colour);
		else
			idle(worker);
	}
}

void *team_worker_main(void *arg)
{
	struct cosy_worker *worker = arg;

	cosy_worker_self = worker;
	cosy_thread_colours = &team_operations;
	bind_to_cpu(worker);
	/* After the end of an earlier thread, the worker was not told what others have closed. */
	cosy_fds_forget_all(worker->loop);
	worker->shown->thread = (int32_t)cosy_sys(SYS_gettid, 0, 0, 0);
	worker->cycles = team_cycles();
	pthread_cleanup_push(abort_without_thread, NULL);
	work(worker);
	pthread_cleanup_pop(0);
	while (worker->calls) {
		struct team_call *call = worker->calls;

		worker->calls = (struct team_call *)call->coloured.next;
		worker->ncalls = UINT32_MAX;
		team_call_free(worker, call);
	}
	worker->ncalls = 0;
	__atomic_fetch_sub(&worker->team->threads, 1, __ATOMIC_RELAXED);
	return NULL;
}

COSY_EXPORT struct cosy_share *cosy_team_share(unsigned int max)
{
	const struct cosy_share_options options = { sizeof(options), max };
	struct cosy_worker *self = cosy_worker_self;
	int err = -EPERM;

	if (self && self->share)
		return self->share;
	if (self)
		err = cosy_share_create(&self->share, &options);
	if (!err)
		return self->share;
	errno = -err;
	return NULL;
}

COSY_EXPORT struct cosy_loop *cosy_team_loop(void)
{
	struct cosy_worker *self = cosy_worker_self;

	if (!self)
		return NULL;
	self->uses_loop = true;
	/* The callback may have opened a descriptor with the number of one that another worker has closed. */
	if (COSY_UNLIKELY(team_get(&self->cancels) != NULL))
		team_make_cancels(self);
	/* Operations without a colour do not refer to colour 0, so the colour stays on this worker for good. */
	if (self->current && !self->current->number)
		self->current->at_loop = true;
	return self->loop;
}

COSY_EXPORT struct cosy_team *cosy_team_self(void)
{
	return cosy_worker_self ? cosy_worker_self->team : NULL;
}

COSY_EXPORT uint64_t cosy_team_colour(void)
{
	const struct cosy_worker *self = cosy_worker_self;

	return self && self->current ? self->current->number : 0;
}
