/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colour.h - the colours of a team, their callbacks, and the locks of both; team.h has the protocol.
 */
#ifndef COSY_TEAM_COLOUR_H
#define COSY_TEAM_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/team.h>

#include "async/colour.h"
#include "async/lock.h"

struct cosy_group;
struct cosy_question;
struct cosy_loop;
struct cosy_worker;

#define TEAM_LINE	64

/* Levels of priority: high, normal, low. */
#define TEAM_LEVELS	3

/**
 * struct team_lock - a lock, which is alone in its line
 * @lock: the lock
 * @last: number + 1 of the worker that took it last; 0: another thread
 */
struct team_lock {
	struct cosy_lock lock;
	uint32_t last;
};

/** struct team_list - callbacks that are due, the oldest one first */
struct team_list {
	struct cosy_coloured *first;
	struct cosy_coloured *last;
};

/**
 * struct team_colour - a colour that has callbacks, or had some
 * @team:     its team
 * @number:   the colour
 * @chain:    next one in its bucket
 * @next:     next one in its queue
 * @previous: previous one in its queue
 * @worker:   the worker whose queue it is put into; written by the thread that has the colour, see team.h
 * @home:     the worker that has allocated this structure; NULL: another thread
 * @local:    callbacks; used by the thread that has the colour
 * @shared:   later callbacks; under the bucket's lock
 * @active:   queued or running; under the bucket's lock
 * @counted:  idle and unused, and one of the bucket's @idle
 * @level:    level of priority: 0 to TEAM_LEVELS - 1
 * @at_loop:  this is colour 0, and it stays because it has used the loop of its worker; used by the
 *	      thread that has the colour
 * @begun:    number of operations that were submitted by its own callbacks and keep it on its
 *	      worker; used by the worker that runs it
 * @ended:    number of these that are complete or allowed to move; under the bucket's lock
 * @users:    number of other operations that refer to it; under the bucket's lock
 * @stays:    number of other reasons to stay on its worker; under the bucket's lock
 * @fiber:    the colour's fiber of ThreadSanitizer
 * @stack:    stack of @fiber
 */
struct team_colour {
	struct cosy_team *team;
	uint64_t number;
	struct team_colour *chain;
	struct team_colour *next;
	struct team_colour *previous;
	struct cosy_worker *worker;
	const struct cosy_worker *home;
	struct team_list local;
	struct team_list shared;
	bool active;
	bool counted;
	uint8_t level;
	bool at_loop;
	uint32_t begun;
	uint32_t ended;
	uint32_t users;
	uint32_t stays;
	void *fiber;
	void *stack;
} __attribute__((aligned(TEAM_LINE)));

/** struct team_bucket - the colours with one hash; @idle: how many of them are idle and unused */
struct team_bucket {
	struct team_lock lock;
	uint32_t idle;
	struct team_colour *first;
} __attribute__((aligned(TEAM_LINE)));

/** struct team_queue - active colours of a worker that do not run */
struct team_queue {
	struct team_lock lock;
	uint32_t count;
	struct team_colour *first[TEAM_LEVELS];
	struct team_colour *last[TEAM_LEVELS];
};

/** enum team_link - how an operation refers to its colour, besides by number */
enum team_link {
	TEAM_LINK_NONE,
	TEAM_LINK_HOLDS,	/* it is one of @begun */
	TEAM_LINK_USES,		/* it is one of @users */
};

/**
 * struct team_call - a callback of cosy_team_call()
 * @fn:	    the callback; NULL: the call is dropped
 * @arg:    its argument
 * @drop:   its drop callback, or NULL
 * @queued: when it was queued, in milliseconds, or 0
 * @home:   the worker that has allocated this structure; NULL: another thread
 */
struct team_call {
	struct cosy_coloured coloured;
	void (*fn)(void *arg);
	void *arg;
	void (*drop)(void *arg);
	uint64_t queued;
	const struct cosy_worker *home;
} __attribute__((aligned(TEAM_LINE)));

/**
 * struct team_cancel - a request to a worker to cancel in its loop
 * @next:     the next request
 * @op:	      the operation; NULL: cancel all operations on @fd, and forget @fd, because another
 *	      worker closes it
 * @fd:	      a descriptor
 * @question: the worker answers this question by sending the request back; NULL: no answer
 * @asker:    the worker that closes it; NULL: @op, or this is the answer
 * @since:    with a question: when it was asked, in nanoseconds
 */
struct team_cancel {
	struct team_cancel *next;
	struct cosy_coloured *op;
	int fd;
	struct cosy_question *question;
	struct cosy_worker *asker;
	uint64_t since;
};

/* colours.c */

/** team_colours_create() - allocate the buckets; returns 0 or -ENOMEM */
int team_colours_create(struct cosy_team *team);

/** team_colours_destroy() - free all colours; in a child, also those that are in use */
void team_colours_destroy(struct cosy_team *team);

/** team_colours_number() - count the colours that are remembered */
uint64_t team_colours_number(struct cosy_team *team);

/**
 * team_add() - queue a callback
 * @team:     the team
 * @coloured: the callback
 * @level:    its level of priority
 *
 * Return: 0 or -ENOMEM.
 */
int team_add(struct cosy_team *team, struct cosy_coloured *coloured, unsigned int level);

/** team_lock_colour() - look up or add a colour, and take its lock; aborts without memory */
struct team_colour *team_lock_colour(struct cosy_team *team, uint64_t number);

/** team_unlock_colour() - release the lock; frees the colour if nothing uses it */
void team_unlock_colour(struct team_colour *colour);

/**
 * team_use() - change the number of operations that use or hold a colour; with its lock
 * @by: 1; or -1
 */
void team_use(struct team_colour *colour, enum team_link link, int by);

/**
 * team_complete() - queue the callback of an operation that is complete; aborts without memory
 * @colour: the colour, if @link is not TEAM_LINK_NONE
 */
void team_complete(struct cosy_team *team, struct team_colour *colour, enum team_link link,
		   struct cosy_coloured *coloured);

/** team_run() - run the callbacks of a colour that this worker has taken from its queue */
void team_run(struct cosy_worker *worker, struct team_colour *colour);

/* operation.c */

/* The colours of what a worker submits. */
extern const struct cosy_colours team_operations;

/** team_run_callback() - call the callback of a colour that this worker runs */
void team_run_callback(struct cosy_worker *worker, struct cosy_coloured *coloured);

/** team_make_cancels() - cancel what other workers have asked this one to cancel */
void team_make_cancels(struct cosy_worker *worker);

/**
 * team_answer_overdue() - answer own questions in place of workers that run a callback for long
 *
 * Their loops can be used meanwhile, unless they have buffers.
 */
void team_answer_overdue(struct cosy_worker *asker);

/** team_deliver() - cosy_loop.deliver of workers: operations without a colour have colour 0 */
void team_deliver(struct cosy_loop *loop, struct cosy_async *op);

/** team_tell_closed() - struct cosy_group.tell of a team; aborts without memory */
uint32_t team_tell_closed(struct cosy_group *group, uint16_t by, uint16_t known, int fd,
			  struct cosy_question *question);

#endif /* COSY_TEAM_COLOUR_H */
