/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * call.c - callbacks that the program queues, and load shedding.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "device/message.h"
#include "team/team.h"

/* Maximum number of free structures for calls that a worker keeps. */
#define MAX_CALLS	256u

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static struct team_call *new_call(void)
{
	struct cosy_worker *self = cosy_worker_self;
	struct team_call *call;

	/* Structures of two workers are never in one cache line. */
	if (!self || !self->calls) {
		call = aligned_alloc(TEAM_LINE, sizeof(*call));
		if (call)
			call->home = self;
		return call;
	}
	call = self->calls;
	self->calls = (struct team_call *)call->coloured.next;
	self->ncalls--;
	return call;
}

void team_call_free(struct cosy_worker *worker, struct team_call *call)
{
	/*
	 * That of another worker is not kept, because it is near those that the other one uses (team.h). free() also
	 * lets ThreadSanitizer forget what was ordered by this address.
	 */
	if (worker->ncalls >= MAX_CALLS || call->home != worker || tsan_is_used()) {
		free(call);
		return;
	}
	call->coloured.next = (struct cosy_coloured *)worker->calls;
	worker->calls = call;
	worker->ncalls++;
}

/* Return true if a call is to be dropped that is about to run. */
static bool is_dropped(struct cosy_worker *worker, const struct team_call *call)
{
	const struct cosy_team *team = worker->team;
	uint64_t age;

	if (call->queued) {
		age = milliseconds() - call->queued;
		if (age > worker->oldest)
			team_set(&worker->oldest, age);
		if (call->drop && age > team->options.max_age_ms)
			return true;
	}
	return call->drop && team_get(&team->stopped);
}

/* The callback of the structure: make the call. */
static void run_call(struct cosy_coloured *coloured)
{
	struct cosy_worker *worker = cosy_worker_self;
	struct team_call *call = (struct team_call *)coloured;
	void (*fn)(void *arg) = call->fn;
	void *arg = call->arg;

	if (!fn || is_dropped(worker, call)) {
		fn = call->drop;
		team_count(&worker->dropped);
	}
	team_call_free(worker, call);
	fn(arg);
}

/* Return true if more callbacks are queued than the limit. */
static bool is_overloaded(const struct cosy_team *team)
{
	const uint32_t count = team_acquire(&team->nworkers);
	uint64_t ran = 0, added;

	for (uint32_t i = 0; i < count; i++)
		ran += team_get(&team->workers[i]->ran);
	added = team_get(&team->added);
	for (uint32_t i = 0; i < count; i++)
		added += team_get(&team->workers[i]->added);
	return added - ran > team->options.max_queued;
}

/* Fill in the structure of a call. @queued: the time now, or 0 if calls have no maximum age. */
static inline void set_call(struct team_call *call, uint64_t colour, void (*fn)(void *arg), void *arg,
			    void (*drop)(void *arg), uint64_t queued)
{
	call->coloured.op.done = NULL;
	call->coloured.done = run_call;
	call->coloured.colour = colour;
	call->fn = fn;
	call->arg = arg;
	call->drop = drop;
	call->queued = queued;
}

/* Queue a call. Its parts are arguments and not in a structure, so that a call with a few of them costs little. */
static inline int queue_call(struct cosy_team *team, uint64_t colour, void (*fn)(void *arg),
			     void *arg, void (*drop)(void *arg), int priority)
{
	const struct cosy_worker *self = cosy_worker_self;
	struct team_call *call;
	int err;

	if (!*team->alive)
		return -EPERM;
	if (priority < -1 || priority > 1)
		return -EINVAL;
	if (team_get(&team->stopped) ||
	    (team_get(&team->closing) && (!self || self->team != team)))
		return -ESHUTDOWN;
	call = new_call();
	if (!call)
		return -ENOMEM;
	set_call(call, colour, fn, arg, drop, team->options.max_age_ms ? milliseconds() : 0);
	if (drop && team->options.max_queued && is_overloaded(team))
		call->fn = NULL;
	err = team_add(team, &call->coloured, (unsigned int)(1 - priority));
	if (err)
		free(call);
	return err;
}

static void run_done(void *arg)
{
	struct cosy_async *op = arg;

	tsan_acquire(op);
	op->done(op);
}

void team_call_done(struct cosy_team *team, struct cosy_async *op)
{
	struct team_call *call = new_call();

	if (call)
		set_call(call, 0, run_done, op, NULL, 0);
	if (!call || team_add(team, &call->coloured, 1)) {
		cosy_message("no memory for a callback of a team", NULL);
		abort();
	}
}

COSY_EXPORT int cosy_team_call_with(struct cosy_team *team, uint64_t colour,
				    const struct cosy_callback *call)
{
	return queue_call(team, colour, call->fn, call->arg, call->drop, call->priority);
}

COSY_EXPORT int cosy_team_call(struct cosy_team *team, uint64_t colour, void (*fn)(void *arg),
			       void *arg)
{
	return queue_call(team, colour, fn, arg, NULL, 0);
}
