/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * team.c - create, resize, stop and destroy teams; wait for them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cosy/share.h>

#include "async/create.h"
#include "async/lock.h"
#include "async/loop.h"
#include "async/thread.h"
#include "device/extensible.h"
#include "device/sys.h"
#include "team/team.h"

/* In cycles: before a worker knows how long its turns take, they are taken to be long. */
#define UNKNOWN_TURN	100000u

/** struct allowed - the CPUs on which the calling thread may run; @count: their number */
struct allowed {
	unsigned long mask[TEAM_MAX_CPUS / 64];
	uint32_t count;
};

static void read_allowed(struct allowed *allowed)
{
	memset(allowed, 0, sizeof(*allowed));
	/* The call fails if the kernel was built for more CPUs. */
	if (cosy_sys(SYS_sched_getaffinity, 0, sizeof(allowed->mask), (long)allowed->mask) < 0)
		return;
	for (unsigned int i = 0; i < TEAM_MAX_CPUS / 64; i++)
		allowed->count += (uint32_t)__builtin_popcountl(allowed->mask[i]);
}

/* Return the CPU for a worker, or -1. */
static int choose_cpu(const struct allowed *allowed, uint32_t index)
{
	uint32_t n;

	if (!allowed->count)
		return -1;
	n = index % allowed->count;
	for (unsigned int cpu = 0; cpu < TEAM_MAX_CPUS; cpu++) {
		if ((allowed->mask[cpu / 64] >> cpu % 64 & 1) && !n--)
			return (int)cpu;
	}
	return -1;
}

/* Read the program's options. @loop: set to the options of the loops. Return 0 or -errno. */
static int read_options(struct cosy_team_options *known, struct cosy_loop_options *loop,
			const struct cosy_team_options *options)
{
	int err = cosy_extensible_copy(known, sizeof(*known), options);

	if (!err)
		err = cosy_extensible_copy(loop, sizeof(*loop), known->loop);
	if (err)
		return err;
	loop->size = sizeof(*loop);
	if (known->workers > COSY_TEAM_MAX || known->flags & ~COSY_TEAM_PIN ||
	    (known->stuck_ms && !known->stuck))
		return -EINVAL;
	return 0;
}

/* Return the seed of the options or of the environment. */
static uint64_t read_seed(const struct cosy_team_options *options)
{
	const char *value = options->seed ? NULL : secure_getenv("COSY_TEAM_SEED");

	return value ? strtoull(value, NULL, 0) : options->seed;
}

static struct cosy_worker *new_worker(struct cosy_team *team, uint32_t index)
{
	struct cosy_worker *worker = aligned_alloc(TEAM_LINE, sizeof(*worker));

	if (!worker)
		return NULL;
	memset(worker, 0, sizeof(*worker));
	worker->team = team;
	worker->index = index;
	worker->shown = &team->shown->worker[index];
	worker->average = UNKNOWN_TURN;
	worker->random = team->random ? team->random + index : index;
	/* The state of a worker without a thread. */
	worker->state = TEAM_ENDS;
	return worker;
}

static int make_loop(struct cosy_worker *worker)
{
	struct cosy_team *team = worker->team;
	struct cosy_loop *loop;
	int err = cosy_loop_create(&loop, team->options.loop);

	if (err)
		return err;
	cosy_loop_join(loop, &team->group, (uint16_t)(worker->index + 1));
	loop->deliver = team_deliver;
	/* Others may read it from here on. */
	team_release(&worker->loop, loop);
	return 0;
}

/* Start the thread of a worker that has none. */
static int start_worker(struct cosy_worker *worker, const struct allowed *allowed)
{
	struct cosy_team *team = worker->team;
	int err = 0;

	if (!worker->loop)
		err = make_loop(worker);
	if (err)
		return err;
	worker->cpu = team->options.flags & COSY_TEAM_PIN ? choose_cpu(allowed, worker->index) : -1;
	team_release(&worker->state, TEAM_RUNS);
	__atomic_fetch_add(&team->threads, 1, __ATOMIC_RELAXED);
	err = -pthread_create(&worker->thread, NULL, team_worker_main, worker);
	if (!err) {
		worker->has_thread = true;
		return 0;
	}
	__atomic_fetch_sub(&team->threads, 1, __ATOMIC_RELAXED);
	team_set(&worker->state, TEAM_ENDS);
	return err;
}

/* Let the worker with this number take colours. Create it, or start its thread, if it has none. */
static int enlist(struct cosy_team *team, uint32_t index, const struct allowed *allowed)
{
	struct cosy_worker *worker = team->workers[index];
	uint32_t state = TEAM_RETIRES;

	if (!worker) {
		worker = new_worker(team, index);
		if (!worker)
			return -ENOMEM;
		team->workers[index] = worker;
		team_release(&team->nworkers, index + 1);
	}
	if (team_get(&worker->state) == TEAM_RUNS ||
	    __atomic_compare_exchange_n(&worker->state, &state, TEAM_RUNS, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		return 0;
	if (worker->has_thread)
		pthread_join(worker->thread, NULL);
	worker->has_thread = false;
	return start_worker(worker, allowed);
}

/* Let the workers from a number on retire. */
static void dismiss(struct cosy_team *team, uint32_t first)
{
	for (uint32_t i = first; i < team->nworkers; i++) {
		struct cosy_worker *worker = team->workers[i];
		uint32_t state = TEAM_RUNS;

		if (__atomic_compare_exchange_n(&worker->state, &state, TEAM_RETIRES, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			team_worker_wake(worker);
	}
}

/* Change the number of workers. */
static int set_workers(struct cosy_team *team, uint32_t count)
{
	const uint32_t before = team->options.workers;
	struct allowed allowed;
	int err = 0;

	read_allowed(&allowed);
	if (!count)
		count = team_default_size(allowed.count);
	if (count > COSY_TEAM_MAX)
		count = COSY_TEAM_MAX;
	if (count < before) {
		__atomic_store_n(&team->options.workers, count, __ATOMIC_SEQ_CST);
		team_set(&team->shown->workers, count);
		dismiss(team, count);
		return 0;
	}
	for (uint32_t i = before; i < count && !err; i++) {
		err = enlist(team, i, &allowed);
		if (!err)
			team_release(&team->options.workers, i + 1);
	}
	team_set(&team->shown->workers, team->options.workers);
	return err;
}

/* Map a flag that a child finds cleared. Return NULL without memory. */
static const int *make_alive(void)
{
	const size_t size = 4096;
	int *alive = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (alive == MAP_FAILED)
		return NULL;
	if (madvise(alive, size, MADV_WIPEONFORK) < 0) {
		munmap(alive, size);
		return NULL;
	}
	*alive = 1;
	return alive;
}

static void free_cancels(struct team_cancel *cancel)
{
	while (cancel) {
		struct team_cancel *next = cancel->next;

		free(cancel);
		cancel = next;
	}
}

static void free_team(struct cosy_team *team)
{
	for (uint32_t i = 0; i < team->nworkers; i++) {
		cosy_loop_destroy(team->workers[i]->loop);
		cosy_share_destroy(team->workers[i]->share);
		free_cancels(team->workers[i]->cancels);
		free(team->workers[i]);
	}
	team_colours_destroy(team);
	cosy_group_destroy(&team->group);
	team_shown_destroy(team);
	munmap((void *)team->alive, 4096);
	free(team);
}

static int start(struct cosy_team *team, uint32_t workers)
{
	int err = set_workers(team, workers);

	if (!err && team->options.stuck_ms) {
		err = -pthread_create(&team->watch, NULL, team_watch, team);
		team->watched = !err;
	}
	return err;
}

COSY_EXPORT int cosy_team_create(struct cosy_team **result, const struct cosy_team_options *options)
{
	struct cosy_team_options known;
	struct cosy_loop_options loop;
	struct cosy_team *team;
	uint32_t workers;
	int err = read_options(&known, &loop, options);

	if (err)
		return err;
	team = aligned_alloc(TEAM_LINE, sizeof(*team));
	if (!team)
		return -ENOMEM;
	memset(team, 0, sizeof(*team));
	workers = known.workers;
	team->options = known;
	team->options.workers = 0;
	team->random = read_seed(&known);
	team->loop = loop;
	team->options.loop = &team->loop;
	team->fenced = cosy_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0;
	team->alive = make_alive();
	if (!team->alive)
		goto no_memory;
	if (!team_shown_create(team))
		goto no_shown;
	if (cosy_group_create(&team->group))
		goto no_group;
	team->group.tell = team_tell_closed;
	if (team_colours_create(team))
		goto no_colours;
	err = start(team, workers);
	if (err) {
		cosy_team_destroy(team);
		return err;
	}
	*result = team;
	return 0;

no_colours:
	cosy_group_destroy(&team->group);
no_group:
	team_shown_destroy(team);
no_shown:
	munmap((void *)team->alive, 4096);
no_memory:
	free(team);
	return -ENOMEM;
}

COSY_EXPORT int cosy_team_resize(struct cosy_team *team, unsigned int workers)
{
	int err;

	if (!*team->alive)
		return -EPERM;
	if (workers > COSY_TEAM_MAX)
		return -EINVAL;
	if (team_get(&team->closing))
		return -ESHUTDOWN;
	if (__atomic_exchange_n(&team->resizing, 1, __ATOMIC_ACQUIRE))
		return -EBUSY;
	err = set_workers(team, workers);
	team_release(&team->resizing, 0);
	return err;
}

COSY_EXPORT void cosy_team_stop(struct cosy_team *team)
{
	team_set(&team->stopped, 1);
}

/* Return true if a worker sleeps, or has ended, and nothing is outstanding in its loop. */
static bool is_at_rest(const struct cosy_worker *worker)
{
	if (team_acquire(&worker->state) == TEAM_ENDS)
		return true;
	return team_acquire(&worker->drained) &&
	       team_acquire(&worker->asleep);
}

/*
 * Return true if nothing is queued, running or outstanding. Callbacks that have run are counted
 * first. If all that were queued by the end have run, none was queued or ran since then.
 */
static bool is_quiet(const struct cosy_team *team)
{
	const uint32_t count = team_acquire(&team->nworkers);
	uint64_t ran = 0, added = 0;

	for (uint32_t i = 0; i < count; i++)
		ran += team_acquire(&team->workers[i]->ran);
	for (uint32_t i = 0; i < count; i++) {
		if (!is_at_rest(team->workers[i]))
			return false;
	}
	for (uint32_t i = 0; i < count; i++)
		added += team_acquire(&team->workers[i]->added);
	return added + team_acquire(&team->added) == ran;
}

static bool is_closed(const struct cosy_team *team)
{
	for (uint32_t i = 0; i < team->nworkers; i++) {
		const uint32_t state = team_acquire(&team->workers[i]->state);

		if (state != TEAM_CLOSED && state != TEAM_ENDS)
			return false;
	}
	return true;
}

/* Wait until @is_so. @until: of CLOCK_MONOTONIC in nanoseconds. Return 0 or -ETIME. */
static int wait_until(struct cosy_team *team, bool (*is_so)(const struct cosy_team *team),
		      uint64_t until)
{
	int err = 0;

	__atomic_fetch_add(&team->waiters, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t event = team_acquire(&team->event);
		uint64_t now;

		if (is_so(team))
			break;
		now = until == COSY_NEVER ? 0 : cosy_clock();
		if (now >= until) {
			err = -ETIME;
			break;
		}
		team_sleep(&team->event, event, until == COSY_NEVER ? until : until - now);
	}
	__atomic_fetch_sub(&team->waiters, 1, __ATOMIC_RELAXED);
	tsan_acquire(team);
	return err;
}

COSY_EXPORT int cosy_team_wait(struct cosy_team *team, const struct timespec *timeout)
{
	uint64_t until;

	if (!*team->alive)
		return -EPERM;
	if (cosy_worker_self && *cosy_worker_self->team->alive)
		return -EDEADLK;
	until = cosy_deadline(timeout);
	return until ? wait_until(team, is_quiet, until) : -EINVAL;
}

/* Tell all workers that have a thread to do something. */
static void tell_all(struct cosy_team *team, uint32_t what)
{
	for (uint32_t i = 0; i < team->nworkers; i++) {
		struct cosy_worker *worker = team->workers[i];
		uint32_t state = team_get(&worker->state);

		while (state != TEAM_ENDS &&
		       !__atomic_compare_exchange_n(&worker->state, &state, what, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		team_worker_wake(worker);
	}
}

COSY_EXPORT int cosy_team_destroy(struct cosy_team *team)
{
	if (!team)
		return 0;
	if (*team->alive) {
		if (cosy_worker_self && cosy_worker_self->team == team)
			return -EDEADLK;
		team_set(&team->closing, 1);
		tell_all(team, TEAM_CLOSES);
		wait_until(team, is_closed, COSY_NEVER);
		wait_until(team, is_quiet, COSY_NEVER);
		tell_all(team, TEAM_ENDS);
		for (uint32_t i = 0; i < team->nworkers; i++) {
			if (team->workers[i]->has_thread)
				pthread_join(team->workers[i]->thread, NULL);
		}
		if (team->watched) {
			team_release(&team->watch_ends, 1);
			team_wake(&team->watch_ends);
			pthread_join(team->watch, NULL);
		}
	} else if (cosy_worker_self && cosy_worker_self->team == team) {
		/* A callback has forked this child: its thread was a worker. */
		cosy_worker_self = NULL;
		cosy_thread_colours = NULL;
	}
	free_team(team);
	return 0;
}

COSY_EXPORT int cosy_team_info(struct cosy_team *team, struct cosy_team_info *info, size_t size)
{
	struct cosy_team_info counts = { 0 };
	uint64_t added = 0;

	if (!*team->alive)
		return -EPERM;
	counts.workers = team_acquire(&team->options.workers);
	counts.asleep = team_get(&team->asleep);
	for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++) {
		const struct cosy_worker *worker = team->workers[i];

		counts.run += team_acquire(&worker->ran);
		counts.dropped += team_get(&worker->dropped);
		counts.stolen += team_get(&worker->stolen);
		counts.sent += team_get(&worker->sent);
		counts.woken += team_get(&worker->woken);
		counts.atomics += team_get(&worker->atomics);
		counts.shared += team_get(&worker->shared);
		if (team_get(&worker->oldest) > counts.oldest_ms)
			counts.oldest_ms = team_get(&worker->oldest);
	}
	for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++)
		added += team_acquire(&team->workers[i]->added);
	counts.queued = added + team_get(&team->added) - counts.run;
	counts.colours = team_colours_number(team);
	cosy_extensible_give(info, size, &counts, sizeof(counts));
	return 0;
}
