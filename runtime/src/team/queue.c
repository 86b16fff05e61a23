/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c - the queues of workers, stealing from them, and waking workers.
 *
 * Waking a worker and moving a colour to another CPU costs some microseconds. So a worker is woken
 * only if the queue holds more work than that. The work is estimated from the time that the last turns
 * took, which fails for a callback that takes much longer. Therefore one idle worker, the lookout,
 * looks at all queues every millisecond as long as any worker is awake.
 */
#include "team/team.h"

/* In cycles: less work in a queue than that is not worth waking a worker, or stealing. */
#define WORTH_WAKING	50000u
#define WORTH_STEALING	2000u
/* Maximum number of colours that a thief takes at once. */
#define MAX_STOLEN	64u
/* One in this number of colours is taken from the lowest level that has any. */
#define LOW_EVERY	61u

static void add_last(struct team_queue *queue, struct team_colour *colour)
{
	const unsigned int level = colour->level;

	colour->next = NULL;
	colour->previous = queue->last[level];
	if (queue->last[level])
		queue->last[level]->next = colour;
	else
		queue->first[level] = colour;
	queue->last[level] = colour;
	team_set(&queue->count, queue->count + 1);
}

static void take_out(struct team_queue *queue, struct team_colour *colour)
{
	const unsigned int level = colour->level;

	if (colour->previous)
		colour->previous->next = colour->next;
	else
		queue->first[level] = colour->next;
	if (colour->next)
		colour->next->previous = colour->previous;
	else
		queue->last[level] = colour->previous;
	team_set(&queue->count, queue->count - 1);
}

/* Return how long the colours of a worker's queue will take, in cycles. */
static uint64_t work_of(const struct cosy_worker *worker)
{
	return team_get(&worker->queue.count) * team_get(&worker->average);
}

bool team_worker_wake(struct cosy_worker *worker)
{
	struct cosy_worker *self = cosy_worker_self;

	if (!team_get(&worker->asleep) ||
	    !__atomic_exchange_n(&worker->asleep, 0, __ATOMIC_ACQ_REL))
		return false;
	__atomic_fetch_sub(&worker->team->asleep, 1, __ATOMIC_RELAXED);
	/* If it is this worker, it delivers completions while it waits, and need not be woken. */
	if (worker == self)
		return true;
	if (self)
		team_count(&self->woken);
	/* It sleeps for the futex, or in its loop. If it leaves the loop meanwhile, it finds @asleep changed. */
	if (team_acquire(&worker->drained))
		team_wake(&worker->asleep);
	else
		cosy_loop_stop(worker->loop);
	return true;
}

/* Return true if a worker does not steal for now. */
static bool pauses(const struct cosy_worker *worker)
{
	const uint64_t until = team_get(&worker->pauses_until);

	return until && team_cycles() < until;
}

/* Wake a worker that sleeps, so that it steals. Return false if none does. */
static bool wake_thief(struct cosy_team *team, bool even_paused)
{
	const uint32_t count = team_acquire(&team->options.workers);

	for (uint32_t i = 0; i < count; i++) {
		struct cosy_worker *worker = team->workers[i];

		if (worker != cosy_worker_self && (even_paused || !pauses(worker)) &&
		    team_worker_wake(worker))
			return true;
	}
	return false;
}

/* If there is no lookout, wake a worker that becomes it. */
static void ask_for_lookout(struct cosy_team *team)
{
	uint32_t none = 0;

	if (team_get(&team->lookout) ||
	    !__atomic_compare_exchange_n(&team->lookout, &none, TEAM_LOOKOUT_ASKED, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	if (!wake_thief(team, true))
		team_set(&team->lookout, 0);
}

void team_pass_lookout(struct cosy_team *team)
{
	team_set(&team->lookout, 0);
	if (team_get(&team->asleep))
		ask_for_lookout(team);
}

/* Wake another worker, if that gains, after a colour was added to the queue of a worker that is awake. */
static void wake_for(struct cosy_team *team, const struct cosy_worker *worker)
{
	if (team_get(&worker->queue.count) > 1 && work_of(worker) > WORTH_WAKING)
		wake_thief(team, false);
	else
		ask_for_lookout(team);
}

/* Return the worker for a colour whose worker takes no more colours. */
static struct cosy_worker *other_worker(struct cosy_team *team, const struct team_colour *colour)
{
	return team->workers[colour->number % team_acquire(&team->options.workers)];
}

/*
 * Return true if the worker of a colour takes it, under the lock of its queue. The state of a worker that
 * retires is set before it takes the lock to empty the queue. A worker that ends sets it under the lock.
 */
static bool takes(const struct cosy_worker *worker, const struct team_colour *colour)
{
	const uint32_t state = team_get(&worker->state);

	return state != TEAM_ENDS && (state != TEAM_RETIRES || team_stays(colour));
}

void team_queue_add(struct cosy_team *team, struct team_colour *colour)
{
	struct cosy_worker *worker = colour->worker;
	struct cosy_worker *self = cosy_worker_self;

	for (;;) {
		team_lock(&worker->queue.lock);
		if (takes(worker, colour))
			break;
		team_unlock(&worker->queue.lock);
		worker = other_worker(team, colour);
		colour->worker = worker;
	}
	add_last(&worker->queue, colour);
	team_unlock(&worker->queue.lock);
	if (worker != self && self)
		team_count(&self->sent);
	if (!team_get(&team->asleep) || team_worker_wake(worker))
		return;
	wake_for(team, worker);
}

/* Return a number from 0 to @count - 1. */
static uint32_t choose(struct cosy_worker *worker, uint32_t count)
{
	worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((worker->random >> 33) % count);
}

/* Return a colour of the queue, which is not empty, at random. */
static struct team_colour *any_of(struct cosy_worker *worker)
{
	const struct team_queue *queue = &worker->queue;
	uint32_t n = choose(worker, queue->count);

	for (unsigned int level = 0;; level++) {
		for (struct team_colour *c = queue->first[level]; c; c = c->next) {
			if (!n--)
				return c;
		}
	}
}

static struct team_colour *first_of(struct cosy_worker *worker)
{
	const struct team_queue *queue = &worker->queue;
	const bool low = worker->taken++ % LOW_EVERY == LOW_EVERY - 1;

	for (unsigned int i = 0; i < TEAM_LEVELS; i++) {
		struct team_colour *c = queue->first[low ? TEAM_LEVELS - 1 - i : i];

		if (c)
			return c;
	}
	return NULL;
}

struct team_colour *team_queue_take(struct cosy_worker *worker)
{
	struct team_queue *queue = &worker->queue;
	struct team_colour *colour = NULL;

	if (!team_get(&queue->count))
		return NULL;
	team_lock(&queue->lock);
	if (queue->count) {
		colour = worker->team->random ? any_of(worker) : first_of(worker);
		take_out(queue, colour);
	}
	team_unlock(&queue->lock);
	return colour;
}

/* Move up to @count colours from the end of a queue to a list. Return their number. */
static uint32_t take_last(struct team_queue *queue, uint32_t count, struct team_colour **list)
{
	uint32_t taken = 0;

	for (unsigned int i = TEAM_LEVELS; i-- > 0 && taken < count;) {
		struct team_colour *colour = queue->last[i], *previous;

		for (; colour && taken < count; colour = previous) {
			previous = colour->previous;
			if (team_stays(colour))
				continue;
			take_out(queue, colour);
			colour->next = *list;
			*list = colour;
			taken++;
		}
	}
	return taken;
}

/* Return true if it gains to steal from a worker, or if it has made no progress for a millisecond. */
static bool is_worth_it(struct cosy_worker *victim, const struct cosy_worker *thief)
{
	const uint64_t ran = team_get(&victim->ran);
	bool stuck;

	if (!team_get(&victim->queue.count))
		return false;
	if (thief->team->random || team_get(&victim->state) != TEAM_RUNS ||
	    (work_of(victim) > WORTH_STEALING && !pauses(thief)))
		return true;
	if (team_get(&thief->team->lookout) != thief->index + 1)
		return false;
	stuck = victim->looked == ran;
	victim->looked = ran;
	return stuck;
}

static uint32_t steal_from(struct cosy_worker *victim, struct cosy_worker *thief)
{
	struct team_colour *stolen = NULL;
	struct team_queue *queue = &victim->queue;
	uint32_t count;

	if (!is_worth_it(victim, thief))
		return 0;
	if (!cosy_try_lock(&queue->lock.lock))
		return 0;
	team_count_atomic(&queue->lock);
	count = (queue->count + 1) / 2;
	count = take_last(queue, count < MAX_STOLEN ? count : MAX_STOLEN, &stolen);
	team_unlock(&queue->lock);
	if (!count)
		return 0;
	team_set(&thief->stolen, thief->stolen + count);
	queue = &thief->queue;
	team_lock(&queue->lock);
	while (stolen) {
		struct team_colour *colour = stolen;

		stolen = colour->next;
		colour->worker = thief;
		add_last(queue, colour);
	}
	team_unlock(&queue->lock);
	return count;
}

struct team_colour *team_queue_steal(struct cosy_worker *worker)
{
	struct cosy_team *team = worker->team;
	const uint32_t count = team_acquire(&team->nworkers);
	uint32_t first;

	if (count == 1 || team_get(&worker->state) == TEAM_RETIRES)
		return NULL;
	first = choose(worker, count);
	for (uint32_t i = 0; i < count; i++) {
		struct cosy_worker *victim = team->workers[(first + i) % count];

		if (victim == worker || !steal_from(victim, worker))
			continue;
		/* There may be enough work for a third worker. */
		if (team_get(&team->asleep))
			wake_for(team, worker);
		return team_queue_take(worker);
	}
	return NULL;
}

void team_queue_empty(struct cosy_worker *worker)
{
	struct team_colour *list = NULL;

	team_lock(&worker->queue.lock);
	take_last(&worker->queue, UINT32_MAX, &list);
	team_unlock(&worker->queue.lock);
	while (list) {
		struct team_colour *colour = list;

		list = colour->next;
		team_queue_add(worker->team, colour);
	}
}
