/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colours.c - the colours of a team and their callbacks; team.h has the protocol.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/message.h"
#include "team/team.h"

#define BUCKET_BITS	12
#define BUCKETS		(1u << BUCKET_BITS)
/* Maximum number of idle colours of a bucket that are remembered, so that they stay on their workers. */
#define MAX_IDLE	2u
/* Maximum number of callbacks of a colour that run before others do, and before the worker polls its loop. */
#define TURN		16u
/* In cycles: if turns take longer on average, a turn is one callback. */
#define LONG_TURN	100000u

static void append(struct team_list *list, struct cosy_coloured *coloured)
{
	coloured->next = NULL;
	if (list->first)
		list->last->next = coloured;
	else
		team_set(&list->first, coloured);
	list->last = coloured;
}

int team_colours_create(struct cosy_team *team)
{
	team->buckets = aligned_alloc(TEAM_LINE, BUCKETS * sizeof(*team->buckets));
	if (!team->buckets)
		return -ENOMEM;
	memset(team->buckets, 0, BUCKETS * sizeof(*team->buckets));
	return 0;
}

void team_colours_destroy(struct cosy_team *team)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct team_colour *colour;

		while ((colour = team->buckets[i].first)) {
			team->buckets[i].first = colour->chain;
			tsan_destroy(colour->fiber, colour->stack);
			free(colour);
		}
	}
	free(team->buckets);
}

uint64_t team_colours_number(struct cosy_team *team)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct team_bucket *bucket = &team->buckets[i];

		team_lock(&bucket->lock);
		for (const struct team_colour *c = bucket->first; c; c = c->chain)
			number++;
		team_unlock(&bucket->lock);
	}
	return number;
}

static struct team_bucket *bucket_of(const struct cosy_team *team, uint64_t number)
{
	/* The upper bits of a product with 2^64 divided by the golden ratio are well mixed. */
	return &team->buckets[number * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

/* Choose where a new colour lives: on the calling worker, otherwise on any. */
static struct cosy_worker *choose_worker(struct cosy_team *team, uint64_t number)
{
	struct cosy_worker *self = cosy_worker_self;

	if (self && self->team == team && team_get(&self->state) != TEAM_RETIRES)
		return self;
	return team->workers[(number * 0x9e3779b97f4a7c15u >> 32) %
			     team_acquire(&team->options.workers)];
}

/* Look up or add a colour, under the lock of its bucket. Return NULL if there is no memory. */
static struct team_colour *find(struct cosy_team *team, struct team_bucket *bucket, uint64_t number)
{
	struct team_colour *colour = bucket->first;

	while (colour && colour->number != number)
		colour = colour->chain;
	if (colour)
		return colour;
	colour = aligned_alloc(TEAM_LINE, sizeof(*colour));
	if (!colour)
		return NULL;
	memset(colour, 0, sizeof(*colour));
	colour->team = team;
	colour->number = number;
	colour->worker = choose_worker(team, number);
	colour->home = cosy_worker_self;
	colour->chain = bucket->first;
	bucket->first = colour;
	return colour;
}

/* Count a colour, which is used, no longer as one that is only remembered. Under the bucket's lock. */
static void recall(struct team_bucket *bucket, struct team_colour *colour)
{
	bucket->idle -= colour->counted;
	colour->counted = false;
}

/*
 * Return true if a colour that is idle is to be allocated again by the worker that makes it active next, near what
 * that worker uses (team.h). It moves there anyway if callbacks are short.
 */
static bool is_misplaced(const struct team_colour *colour)
{
	const struct cosy_worker *self = cosy_worker_self;

	return self && colour->home != self && team_get(&self->average) < TEAM_SHORT;
}

/*
 * If a colour is idle and unused, remember it, or free it if its bucket remembers MAX_IDLE already. Under
 * the bucket's lock. For ThreadSanitizer none is freed: it could not distinguish the next colour at the
 * same address.
 */
static void remember(struct team_bucket *bucket, struct team_colour *colour)
{
	struct team_colour **link = &bucket->first;

	if (colour->active || colour->users || team_stays(colour))
		return;
	if ((bucket->idle < MAX_IDLE && !is_misplaced(colour)) || tsan_is_used()) {
		bucket->idle++;
		colour->counted = true;
		return;
	}
	while (*link != colour)
		link = &(*link)->chain;
	*link = colour->chain;
	free(colour);
}

struct team_colour *team_lock_colour(struct cosy_team *team, uint64_t number)
{
	struct team_bucket *bucket = bucket_of(team, number);
	struct team_colour *colour;

	team_lock(&bucket->lock);
	colour = find(team, bucket, number);
	if (!colour) {
		cosy_message("no memory for a colour of a team", NULL);
		abort();
	}
	recall(bucket, colour);
	return colour;
}

void team_unlock_colour(struct team_colour *colour)
{
	struct team_bucket *bucket = bucket_of(colour->team, colour->number);

	remember(bucket, colour);
	team_unlock(&bucket->lock);
}

void team_use(struct team_colour *colour, enum team_link link, int by)
{
	if (link == TEAM_LINK_USES)
		colour->users += (uint32_t)by;
	else if (link == TEAM_LINK_HOLDS)
		team_set(&colour->ended, colour->ended + 1);
}

/* Count a callback that the calling thread has queued. */
static void count_added(struct cosy_team *team)
{
	struct cosy_worker *self = cosy_worker_self;

	if (self && self->team == team)
		team_count(&self->added);
	else
		__atomic_fetch_add(&team->added, 1, __ATOMIC_RELAXED);
}

/*
 * Move a colour that becomes active to the calling worker if callbacks are short. Then sending the colour
 * to its worker takes longer than getting its data.
 */
static void attract(const struct cosy_team *team, struct team_colour *colour)
{
	struct cosy_worker *self = cosy_worker_self;

	if (self && self->team == team && colour->worker != self && !team->random &&
	    team_get(&self->average) < TEAM_SHORT && !team_stays(colour))
		colour->worker = self;
}

/*
 * Add a callback to a colour, and release the bucket's lock. The callback is counted before that, because
 * it can run as soon as the lock is released.
 */
static void add_locked(struct cosy_team *team, struct team_bucket *bucket,
		       struct team_colour *colour, struct cosy_coloured *coloured,
		       unsigned int level)
{
	bool wakes = !colour->active;

	count_added(team);
	if (wakes) {
		recall(bucket, colour);
		attract(team, colour);
		colour->active = true;
		colour->level = (uint8_t)level;
		append(&colour->local, coloured);
	} else {
		append(&colour->shared, coloured);
	}
	team_unlock(&bucket->lock);
	if (wakes)
		team_queue_add(team, colour);
}

int team_add(struct cosy_team *team, struct cosy_coloured *coloured, unsigned int level)
{
	struct cosy_worker *self = cosy_worker_self;
	struct team_colour *colour;
	struct team_bucket *bucket;

	tsan_release(coloured);
	if (self && self->current && self->team == team &&
	    self->current->number == coloured->colour &&
	    !team_acquire(&self->current->shared.first)) {
		team_count(&self->added);
		append(&self->current->local, coloured);
		return 0;
	}
	bucket = bucket_of(team, coloured->colour);
	team_lock(&bucket->lock);
	colour = find(team, bucket, coloured->colour);
	if (!colour) {
		team_unlock(&bucket->lock);
		return -ENOMEM;
	}
	add_locked(team, bucket, colour, coloured, level);
	return 0;
}

void team_complete(struct cosy_team *team, struct team_colour *colour, enum team_link link,
		   struct cosy_coloured *coloured)
{
	struct team_bucket *bucket = bucket_of(team, coloured->colour);

	tsan_release(coloured);
	if (link == TEAM_LINK_NONE) {
		colour = team_lock_colour(team, coloured->colour);
	} else {
		/* The operation refers to the colour, so that it was not freed, and need not be searched. */
		team_lock(&bucket->lock);
		team_use(colour, link, -1);
	}
	/* This tells cosy_team_cancel() that the loop does not have the operation any more. */
	coloured->op.slot = UINT32_MAX;
	add_locked(team, bucket, colour, coloured, 1);
}

/* Move the shared callbacks to the local ones. If there are none, make the colour idle, and return false. */
static bool refill(struct team_colour *colour)
{
	struct team_bucket *bucket = bucket_of(colour->team, colour->number);
	bool has_more;

	team_lock(&bucket->lock);
	has_more = colour->shared.first != NULL;
	if (has_more) {
		colour->local = colour->shared;
		team_set(&colour->shared.first, NULL);
	} else {
		colour->active = false;
		remember(bucket, colour);
	}
	team_unlock(&bucket->lock);
	return has_more;
}

/* Tell ThreadSanitizer that a colour's callbacks end, before a thread returns from cosy_team_wait(). */
static void leave_fiber(struct cosy_worker *worker, struct team_colour *colour, void *own)
{
	tsan_release(worker->team);
	tsan_leave(&colour->fiber, own);
}

void team_run(struct cosy_worker *worker, struct team_colour *colour)
{
	const bool brief = worker->team->random || team_get(&worker->average) > LONG_TURN;
	const uint32_t turn = brief ? 1 : TURN;
	struct cosy_coloured *coloured;
	void *own;

	team_begin(worker, colour);
	own = tsan_enter(&colour->fiber);
	worker->current = colour;
	for (uint32_t n = 0;; n++) {
		if (!colour->local.first) {
			/* As soon as the colour is idle, another worker may run it. */
			leave_fiber(worker, colour, own);
			if (!refill(colour)) {
				colour = NULL;
				break;
			}
			own = tsan_enter(&colour->fiber);
		}
		if (n >= turn)
			break;
		coloured = colour->local.first;
		colour->local.first = coloured->next;
		team_run_callback(worker, coloured);
	}
	worker->current = NULL;
	if (colour)
		leave_fiber(worker, colour, own);
	team_end(worker);
	if (colour)
		team_queue_add(worker->team, colour);
}
