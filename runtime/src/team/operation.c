/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operation.c - operations and functions of workers, whose callbacks have colours of the team.
 *
 * An operation refers to its colour from cosy_colour() on, so that completing it needs no search, and
 * the colour is not freed. @next of the operation has that reference until its callback is queued:
 * the colour's address, the kind of the reference in the lowest bits, and the number of the worker
 * that submits it in the uppermost. Afterwards, as the program may submit it again without
 * cosy_colour(), @next is the team's address, with TEAM_LINK_NONE.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "async/cancel.h"
#include "async/lock.h"
#include "async/loop.h"
#include "async/start.h"
#include "async/wait.h"
#include "device/message.h"
#include "team/team.h"

#define WORKER_SHIFT	48
#define LINK_MASK	3u

static uintptr_t reference_of(const struct cosy_coloured *coloured)
{
	return (uintptr_t)coloured->next;
}

static enum team_link link_of(const struct cosy_coloured *coloured)
{
	return (enum team_link)(reference_of(coloured) & LINK_MASK);
}

static void *target_of(const struct cosy_coloured *coloured)
{
	const uintptr_t below = ((uintptr_t)1 << WORKER_SHIFT) - 1;

	return (void *)(reference_of(coloured) & below & ~(uintptr_t)LINK_MASK);
}

static void refer(struct cosy_coloured *coloured, const void *target, enum team_link link,
		  uint32_t worker)
{
	coloured->next = (void *)((uintptr_t)target | link | (uintptr_t)worker << WORKER_SHIFT);
}

static struct cosy_team *team_of(struct cosy_group *group)
{
	return (void *)((char *)group - offsetof(struct cosy_team, group));
}

/* Forget requests to cancel an operation that is complete: its memory may be freed. */
static void forget_cancels(struct cosy_worker *worker, const struct cosy_coloured *coloured)
{
	struct team_cancel **link = &worker->cancels, *cancel;

	team_lock(&worker->queue.lock);
	while ((cancel = *link)) {
		if (cancel->op == coloured) {
			*link = cancel->next;
			tsan_acquire(cancel);
			free(cancel);
		} else {
			link = &cancel->next;
		}
	}
	team_unlock(&worker->queue.lock);
}

/* The operation is complete. */
static void operation_done(struct cosy_async *op)
{
	struct cosy_coloured *coloured = (struct cosy_coloured *)op;
	const enum team_link link = link_of(coloured);
	void *target = target_of(coloured);
	struct cosy_worker *self = cosy_worker_self;

	if (link == TEAM_LINK_NONE)
		team_complete(target, NULL, link, coloured);
	else
		team_complete(((struct team_colour *)target)->team, target, link, coloured);
	if (self && team_get(&self->cancels))
		forget_cancels(self, coloured);
}

void team_deliver(struct cosy_loop *loop, struct cosy_async *op)
{
	if (op->done == operation_done)
		operation_done(op);
	else
		team_call_done(team_of(loop->fds.group), op);
}

static void prepare(struct cosy_coloured *coloured)
{
	struct cosy_worker *self = cosy_worker_self;
	struct team_colour *colour = self->current;

	coloured->op.done = operation_done;
	coloured->op.slot = 0;
	if (colour && colour->number == coloured->colour) {
		team_set(&colour->begun, colour->begun + 1);
		refer(coloured, colour, TEAM_LINK_HOLDS, self->index);
		return;
	}
	colour = team_lock_colour(self->team, coloured->colour);
	team_use(colour, TEAM_LINK_USES, 1);
	refer(coloured, colour, TEAM_LINK_USES, self->index);
	team_unlock_colour(colour);
}

/*
 * Let the colour of a function stay on this worker as long as the function exists: its calls are operations
 * of this worker's loop.
 */
static void hold(struct cosy_coloured *coloured)
{
	struct cosy_worker *self = cosy_worker_self;
	struct team_colour *colour = team_lock_colour(self->team, coloured->colour);

	team_set(&colour->stays, colour->stays + 1);
	team_use(colour, link_of(coloured), -1);
	if (!colour->active)
		colour->worker = self;
	refer(coloured, self->team, TEAM_LINK_NONE, 0);
	team_unlock_colour(colour);
}

static void release(struct cosy_coloured *coloured)
{
	struct team_colour *colour = team_lock_colour(target_of(coloured), coloured->colour);

	team_set(&colour->stays, colour->stays - 1);
	team_unlock_colour(colour);
}

const struct cosy_colours team_operations = {
	.prepare = prepare,
	.hold = hold,
	.release = release,
};

static void call_done(void *coloured)
{
	((struct cosy_coloured *)coloured)->done(coloured);
}

void team_run_callback(struct cosy_worker *worker, struct cosy_coloured *coloured)
{
	/* Forget descriptors that others have closed, before the callback can use their numbers again. */
	if (COSY_UNLIKELY(team_get(&worker->cancels) != NULL))
		team_make_cancels(worker);
	tsan_acquire(coloured);
	if (coloured->op.done)
		refer(coloured, worker->team, TEAM_LINK_NONE, 0);
	tsan_call(worker->current->fiber, &worker->current->stack, call_done, coloured);
	/* Count the callback after those that it has queued: is_quiet() depends on that. */
	team_release(&worker->ran, worker->ran + 1);
}

COSY_EXPORT struct cosy_async *cosy_team_moves(struct cosy_async *op)
{
	struct cosy_coloured *coloured = (struct cosy_coloured *)op;
	struct team_colour *colour = target_of(coloured);

	if (link_of(coloured) != TEAM_LINK_HOLDS)
		return op;
	team_lock_colour(colour->team, colour->number);
	team_use(colour, TEAM_LINK_HOLDS, -1);
	team_use(colour, TEAM_LINK_USES, 1);
	team_unlock_colour(colour);
	refer(coloured, colour, TEAM_LINK_USES, cosy_worker_self->index);
	return op;
}

COSY_EXPORT void cosy_team_rejected(struct cosy_coloured *op)
{
	const enum team_link link = link_of(op);
	struct team_colour *colour = target_of(op);
	struct cosy_team *team;

	if (link == TEAM_LINK_NONE)
		return;
	team = colour->team;
	team_lock_colour(team, colour->number);
	team_use(colour, link, -1);
	/* This may free the colour. */
	team_unlock_colour(colour);
	refer(op, team, TEAM_LINK_NONE, 0);
}

COSY_EXPORT void cosy_team_stay(bool stay)
{
	struct cosy_worker *self = cosy_worker_self;
	struct team_colour *colour;

	if (!self || !self->current)
		return;
	colour = team_lock_colour(self->team, self->current->number);
	if (stay)
		team_set(&colour->stays, colour->stays + 1);
	else if (colour->stays)
		team_set(&colour->stays, colour->stays - 1);
	team_unlock_colour(colour);
}

/*
 * Send a request to another worker. An operation to cancel exists, because the caller has locked its
 * colour. Return false if the request is for a descriptor, and the worker has no thread: it forgets all
 * descriptors when it starts again.
 */
static bool send_request(struct cosy_worker *worker, struct team_cancel *cancel)
{
	bool sent = false;

	tsan_release(cancel);
	team_lock(&worker->queue.lock);
	if (cancel->op || team_get(&worker->state) != TEAM_ENDS) {
		cancel->next = worker->cancels;
		team_set(&worker->cancels, cancel);
		sent = true;
	}
	team_unlock(&worker->queue.lock);
	if (!sent)
		free(cancel);
	return sent;
}

/* Return true if the worker will answer. */
static bool tell_closed(struct cosy_worker *worker, struct cosy_worker *asker, int fd,
			struct cosy_question *question)
{
	struct team_cancel *cancel;
	bool sent;

	/* A worker that has never had a thread has no loop. */
	if (!team_acquire(&worker->loop))
		return false;
	/* If nothing has to be cancelled there, need no answer: the worker may run a callback for long. */
	if (!cosy_loop_is_used(worker->loop))
		question = NULL;
	/* Remove it from epoll now: the worker would do so later, when the number may refer to another file. */
	if (!question)
		cosy_descriptor_leave(&worker->loop->fds, fd);
	cancel = malloc(sizeof(*cancel));
	if (!cancel) {
		cosy_message("no memory to close a descriptor of a team", NULL);
		abort();
	}
	*cancel = (struct team_cancel){ .fd = fd, .question = question, .asker = asker };
	if (question)
		cancel->since = cosy_clock();
	sent = send_request(worker, cancel);
	team_worker_wake(worker);
	return sent && question;
}

uint32_t team_tell_closed(struct cosy_group *group, uint16_t by, uint16_t known, int fd,
			  struct cosy_question *question)
{
	struct cosy_team *team = team_of(group);
	struct cosy_worker *asker = team->workers[by - 1];
	const uint32_t count = team_acquire(&team->nworkers);
	uint32_t asked = 0;

	if (known != COSY_KNOWN_BY_SEVERAL)
		return tell_closed(team->workers[known - 1], asker, fd, question);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 != by)
			asked += tell_closed(team->workers[i], asker, fd, question);
	}
	return asked;
}

/* Ask another worker to cancel an operation, with the lock of the colour. */
static int ask_to_cancel(struct cosy_worker *worker, struct cosy_coloured *op)
{
	struct team_cancel *cancel = malloc(sizeof(*cancel));

	if (!cancel)
		return -ENOMEM;
	*cancel = (struct team_cancel){ .op = op, .fd = -1 };
	send_request(worker, cancel);
	return 0;
}

COSY_EXPORT int cosy_team_cancel(struct cosy_coloured *op)
{
	struct cosy_worker *self = cosy_worker_self, *worker = NULL;
	struct team_colour *colour;
	int err = -ENOENT;

	if (!self)
		return -EPERM;
	colour = team_lock_colour(self->team, op->colour);
	if (op->op.slot != UINT32_MAX) {
		worker = link_of(op) == TEAM_LINK_NONE ?
				 self :
				 self->team->workers[reference_of(op) >> WORKER_SHIFT];
		err = worker == self ? 0 : ask_to_cancel(worker, op);
	}
	team_unlock_colour(colour);
	if (err)
		return err;
	/* Only this thread delivers completions of its own loop. */
	if (worker == self)
		return cosy_cancel(self->loop, &op->op);
	team_worker_wake(worker);
	return 0;
}

/* Return true for a request that another worker can make, too: to forget a descriptor. */
static bool is_for_descriptor(const struct team_cancel *cancel)
{
	return cancel->asker;
}

/* Take the requests to a worker; or only those for descriptors. */
static struct team_cancel *take_cancels(struct cosy_worker *worker, bool all)
{
	struct team_cancel **link = &worker->cancels, *taken = NULL, *cancel;

	team_lock(&worker->queue.lock);
	while ((cancel = *link)) {
		if (!all && !is_for_descriptor(cancel)) {
			link = &cancel->next;
			continue;
		}
		team_set(link, cancel->next);
		tsan_acquire(cancel);
		cancel->next = taken;
		taken = cancel;
	}
	team_unlock(&worker->queue.lock);
	return taken;
}

/*
 * Make requests for descriptors, with the lock of the loop. Operations that were submitted last may be for a
 * new file with the number of a closed one. So forget all numbers before cosy_fd_closes() begins operations.
 */
static void make_for_descriptors(struct cosy_loop *loop, const struct team_cancel *cancels)
{
	const struct team_cancel *cancel;

	for (cancel = cancels; cancel; cancel = cancel->next)
		if (is_for_descriptor(cancel) && !cancel->question)
			cosy_fd_forget(loop, cancel->fd);
	for (cancel = cancels; cancel; cancel = cancel->next)
		if (is_for_descriptor(cancel) && cancel->question)
			cosy_fd_closes(loop, cancel->fd);
}

/* Send a request back to the worker that asks. */
static void answer(struct team_cancel *cancel)
{
	struct cosy_worker *asker = cancel->asker;
	struct cosy_question *question = cancel->question;

	cancel->asker = NULL;
	if (send_request(asker, cancel))
		team_worker_wake(asker);
	else
		/* The close was cancelled, and the worker that asked has ended. */
		cosy_close_answered(asker->loop, question);
}

/* Do the rest of what a request asks for, and free it. */
static void end_cancel(struct cosy_worker *worker, struct team_cancel *cancel)
{
	if (is_for_descriptor(cancel) && cancel->question) {
		answer(cancel);
		return;
	}
	if (cancel->op)
		cosy_cancel(worker->loop, &cancel->op->op);
	else if (cancel->question)
		cosy_close_answered(worker->loop, cancel->question);
	free(cancel);
}

/*
 * Make requests to a worker. Until those for descriptors are made, nothing can be submitted to its loop.
 * @self: the calling thread is the worker
 */
static void make_cancels(struct cosy_worker *worker, bool self)
{
	struct cosy_loop *loop = worker->loop;
	struct team_cancel *cancels = NULL, *cancel;

	if (cosy_loop_enter(loop))
		return;
	if (self || !loop->closing)
		cancels = take_cancels(worker, self);
	make_for_descriptors(loop, cancels);
	cosy_loop_leave(loop);
	while ((cancel = cancels)) {
		cancels = cancel->next;
		end_cancel(worker, cancel);
	}
}

void team_make_cancels(struct cosy_worker *worker)
{
	make_cancels(worker, true);
}

/* Return true if a worker should have answered a request of @asker by now. */
static bool is_overdue(struct cosy_worker *worker, const struct cosy_worker *asker, uint64_t now)
{
	const struct team_cancel *cancel;

	team_lock(&worker->queue.lock);
	cancel = worker->cancels;
	while (cancel && (cancel->asker != asker || !cancel->question || cancel->since + TEAM_PATIENCE > now))
		cancel = cancel->next;
	team_unlock(&worker->queue.lock);
	return cancel;
}

void team_answer_overdue(struct cosy_worker *asker)
{
	const uint32_t count = team_acquire(&asker->team->nworkers);
	const uint64_t now = cosy_clock();

	if (now < asker->answers_at)
		return;
	asker->answers_at = now + TEAM_PATIENCE;
	for (uint32_t i = 0; i < count; i++) {
		struct cosy_worker *worker = asker->team->workers[i];

		if (team_get(&worker->cancels) && is_overdue(worker, asker, now))
			make_cancels(worker, false);
	}
}
