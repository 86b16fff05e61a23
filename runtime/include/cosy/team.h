/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/team.h - callbacks with colours on several CPUs.
 *
 *	static void hash(void *arg)
 *	{
 *		struct request *r = arg;
 *
 *		r->key = hash_of(r->name);
 *		cosy_team_call(r->team, CACHE, look_up, r);
 *	}
 *
 *	cosy_team_create(&team, NULL);
 *	cosy_team_call(team, (uintptr_t)r, hash, r);
 *	cosy_team_wait(team, NULL);
 *	cosy_team_destroy(team);
 *
 * A team has workers, which are threads. Each has a loop (cosy/async.h) and a queue of its own, and
 * shares nothing until it has to. Every callback has a colour, a 64-bit number. Callbacks of one
 * colour run one after the other, in the order in which they were queued. Callbacks of different
 * colours run at the same time, on different workers. So a program gives callbacks that use the same
 * data the same colour, and needs no lock. On a worker, no colour is colour 0: a program for one thread
 * is right without a change if a callback of colour 0 starts it.
 *
 * A colour lives on a worker, and its data in that CPU's caches. An idle worker steals colours, with
 * all their queued callbacks, from the end of another worker's queue.
 *
 * A callback that runs on a worker submits operations to cosy_team_loop(). There cosy_colour() gives
 * the operation a colour of the team, and COSY_SPAWN() with .colour a function.
 *
 * Functions return -errno on failure. They are thread-safe and may be called from callbacks, unless
 * they say otherwise; none is async-signal-safe. After fork() the child has no team: there they
 * return -EPERM. It may destroy the team and make others, also if a callback has forked it. A callback
 * has to return, and not to leave by longjmp(), an exception or the end of the thread. pthread_exit() in
 * a callback ends the process by SIGABRT.
 *
 * The colours of Zeldovich et al., "Multiprocessor Support for Event-Driven Programs", USENIX 2003.
 * See cosy-team(7).
 */
#ifndef COSY_TEAM_H
#define COSY_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cosy/async.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_team - workers; opaque */
struct cosy_team;

/* The maximum number of workers. */
#define COSY_TEAM_MAX		256

/* While a callback of this colour runs, no other callback of the team runs. */
#define COSY_COLOUR_ALONE	UINT64_MAX

/**
 * struct cosy_team_stuck - a callback that has been running for long
 * @worker: number of the worker, from 0
 * @colour: the colour of the callback
 * @ms:     how long it has been running, at least
 */
struct cosy_team_stuck {
	uint32_t worker;
	uint32_t ms;
	uint64_t colour;
};

/* Flags of a team */
#define COSY_TEAM_PIN		0x1u	/* bind each worker to one of the CPUs, in turn */

/**
 * struct cosy_team_options - options of a team
 * @size:	sizeof(struct cosy_team_options)
 * @workers:	number of workers, at most COSY_TEAM_MAX; 0: the CPUs that the caller may run on, but not
 *		more than the process's cgroup has time for (cpu.max, rounded up)
 * @flags:	COSY_TEAM_PIN
 * @max_queued:	load shedding: while more callbacks than that are queued in the team, further calls
 *		are dropped; 0: no limit
 * @max_age_ms:	a call that has been queued for longer than that is dropped; 0: no limit
 * @seed:	not 0: run colours in a random order that this seed determines, each callback of a
 *		colour by itself. Finds programs that depend on an order that is not guaranteed. The
 *		order is the same in each run if the team has one worker, and only callbacks queue
 *		others. 0: the environment variable COSY_TEAM_SEED, if it is set
 * @stuck_ms:	call @stuck when a callback has been running for that long; 0: never
 * @stuck:	called once for such a callback, by a thread of the team that is no worker
 * @data:	for @stuck
 * @loop:	options of the workers' loops; NULL: the defaults
 *
 * Calls that have a drop callback are dropped (struct cosy_callback); others never are.
 */
struct cosy_team_options {
	uint32_t size;
	uint32_t workers;
	uint32_t flags;
	uint32_t max_queued;
	uint32_t max_age_ms;
	uint32_t stuck_ms;
	uint64_t seed;
	void (*stuck)(struct cosy_team *team, const struct cosy_team_stuck *what, void *data);
	void *data;
	const struct cosy_loop_options *loop;
};

/**
 * cosy_team_create() - start a team
 * @team:    out: the team, to be destroyed by cosy_team_destroy()
 * @options: its options; NULL: the defaults
 *
 * The workers inherit the caller's signal mask.
 *
 * Return: 0; -EINVAL (an option), -ENOMEM, -EAGAIN (threads), -EMFILE, -ENFILE.
 */
int cosy_team_create(struct cosy_team **team, const struct cosy_team_options *options);

/**
 * cosy_team_destroy() - run or drop what is queued, cancel operations, end the workers
 * @team: the team, or NULL; no other thread may be using it
 *
 * Everything that is queued runs, also what these callbacks queue. Operations complete with
 * -ECANCELED. What callbacks submit meanwhile is cancelled, too, or fails with -ESHUTDOWN. Waits for
 * calls that cannot be cancelled. In the child of fork(), frees the memory only.
 *
 * Return: 0; -EDEADLK: called by a worker.
 */
int cosy_team_destroy(struct cosy_team *team);

/**
 * cosy_team_wait() - wait until nothing is queued, running or outstanding
 * @team:    the team
 * @timeout: the maximum time to wait; NULL: no limit
 *
 * Continues after signal handlers.
 *
 * Return: 0; -ETIME; -EINVAL (@timeout); -EDEADLK: called by a worker; -EPERM.
 */
int cosy_team_wait(struct cosy_team *team, const struct timespec *timeout);

/**
 * cosy_team_stop() - drop what can be dropped
 * @team: the team
 *
 * From now on calls that have a drop callback are dropped instead of run, and cosy_team_call()
 * fails with -ESHUTDOWN. What cannot be dropped runs. Operations are not cancelled.
 */
void cosy_team_stop(struct cosy_team *team);

/**
 * cosy_team_resize() - change the number of workers
 * @team:    the team
 * @workers: at most COSY_TEAM_MAX; 0: the CPUs that the caller may run on now
 *
 * The workers with the highest numbers give their colours away. They end when their operations and
 * functions are complete.
 *
 * Return: 0; -EINVAL; -EBUSY: another thread is resizing the team; -ESHUTDOWN; -ENOMEM, -EAGAIN,
 * -EMFILE, -ENFILE: the team has as many workers as could be started; -EPERM.
 */
int cosy_team_resize(struct cosy_team *team, unsigned int workers);

/**
 * cosy_team_call() - queue a callback
 * @team:   the team
 * @colour: its colour
 * @fn:	    the callback
 * @arg:    its argument
 *
 * This is cpucb() of the paper. Nothing is shared with other workers if the colour lives on the calling one.
 *
 * Return: 0: it will run, once; -ENOMEM, -ESHUTDOWN, -EPERM.
 */
int cosy_team_call(struct cosy_team *team, uint64_t colour, void (*fn)(void *arg), void *arg);

/**
 * struct cosy_callback - a callback that can be dropped
 * @fn:	      the callback
 * @arg:      its argument
 * @drop:     called in place of @fn, in the same colour and order, if the team is overloaded or has
 *	      been stopped; NULL: @fn is always called
 * @priority: a hint: 1: before others, 0, -1: after others. Every colour runs at some time
 */
struct cosy_callback {
	void (*fn)(void *arg);
	void *arg;
	void (*drop)(void *arg);
	int priority;
};

/**
 * cosy_team_call_with() - queue a callback that can be dropped
 * @team:   the team
 * @colour: its colour
 * @call:   the callback; copied
 *
 * Return: as cosy_team_call(); -EINVAL: @priority.
 */
int cosy_team_call_with(struct cosy_team *team, uint64_t colour, const struct cosy_callback *call);

/** cosy_team_self() - the team whose worker calls this; NULL if the thread is no worker */
struct cosy_team *cosy_team_self(void);

/** cosy_team_colour() - the colour of the running callback; 0 if the thread runs none */
uint64_t cosy_team_colour(void);

/**
 * cosy_team_loop() - the loop of the calling worker
 *
 * Only callbacks on this worker may submit to it, and no thread may wait for it. In a callback:
 *
 *	cosy_async_recv(cosy_team_loop(), cosy_colour(&c->received, (uintptr_t)c, received),
 *			c->fd, c->buf, sizeof(c->buf), 0);
 *
 * cosy_colour() has to be followed by a submission of the operation. If that fails, submit the
 * returned operation again, or call cosy_team_rejected(). While an operation of the running colour is
 * outstanding, the colour stays on this worker. So operations of one colour on one descriptor are ordered
 * as in one loop.
 * cosy_team_moves() makes an exception. An operation without a structure does not count:
 * cosy_team_stay(). An operation without cosy_colour(), and a function without .colour, have colour 0,
 * which stays for good on the worker where it calls this.
 *
 * cosy_async_close() on any worker closes a descriptor for all: what waits for it, in whatever loop of the
 * team, first completes with -ECANCELED, and the loops forget it. If another worker has used the
 * descriptor, and anything is outstanding in its loop, the close waits until that worker has returned from
 * its callback, but at most for about 20 ms, unless its loop has buffers (cosy_loop_buffers()). What the
 * callback has submitted by then may begin before it returns.
 *
 * Call cosy_cancel_fd() on a worker before closing a descriptor otherwise: that cancels on
 * this worker what waits, and lets the others do so soon.
 *
 * Return: the loop; NULL: the thread is no worker.
 */
struct cosy_loop *cosy_team_loop(void);

/**
 * cosy_team_share() - the share of the calling worker, for descriptors that it opens (cosy/share.h)
 * @max: the maximum number of descriptors; only the first call of a worker reads it. 0: 64
 *
 * It is made by the first call, and destroyed with the team. A colour that moves to another worker uses the
 * share in which its descriptors are, or hands them over by cosy_share_give().
 *
 * Return: the share; NULL: the thread is no worker (errno: EPERM), or an error of cosy_share_create().
 */
struct cosy_share *cosy_team_share(unsigned int max);

/**
 * cosy_team_moves() - let the colour move while an operation is outstanding
 * @op: what cosy_colour() has returned; not submitted yet
 *
 * For timers and other operations whose order does not matter.
 *
 * Return: @op
 */
struct cosy_async *cosy_team_moves(struct cosy_async *op);

/**
 * cosy_team_rejected() - give the colour back of an operation whose submission has failed
 * @op: the operation, which was given to cosy_colour(), and is not submitted again
 *
 * Otherwise the colour stays on this worker, and its memory is not freed.
 */
void cosy_team_rejected(struct cosy_coloured *op);

/**
 * cosy_team_stay() - keep the running colour on this worker
 * @stay: true: from now on; false: no longer. As many calls with false end as many with true
 */
void cosy_team_stay(bool stay);

/**
 * cosy_team_cancel() - cancel an operation of the running colour
 * @op: the operation, with cosy_colour(); submitted to the loop of a worker of the team
 *
 * cosy_cancel() for any worker's loop. Its callback runs in any case.
 *
 * Return: 0: it was cancelled, or will be unless it completes before; -ENOENT: it is complete;
 * -EALREADY: as cosy_cancel(); -ENOMEM; -EPERM: the thread is no worker.
 */
int cosy_team_cancel(struct cosy_coloured *op);

/**
 * struct cosy_team_info - the counts of a team
 * @workers:	  number of workers
 * @asleep:	  of these, waiting
 * @queued:	  callbacks that are queued
 * @run:	  callbacks that have run or were dropped
 * @dropped:	  of these, dropped
 * @oldest_ms:	  the longest time for which a call was queued; 0 unless the team has a limit of age
 * @stolen:	  colours that workers have stolen
 * @sent:	  colours that were queued on another thread's worker
 * @woken:	  times that a worker was woken
 * @atomics:	  atomic operations of workers on lines that others may write: locks of colours and
 *		  of queues that they have taken
 * @shared:	  of these, on lines that another thread was the last to write
 * @colours:	  colours that the team remembers
 */
struct cosy_team_info {
	uint32_t workers;
	uint32_t asleep;
	uint64_t queued;
	uint64_t run;
	uint64_t dropped;
	uint64_t oldest_ms;
	uint64_t stolen;
	uint64_t sent;
	uint64_t woken;
	uint64_t atomics;
	uint64_t shared;
	uint64_t colours;
};

/**
 * cosy_team_info() - read the counts of a team
 * @team: the team
 * @info: out: its counts; while callbacks run, they are of slightly different times
 * @size: sizeof(struct cosy_team_info); unknown members are set to 0
 *
 * Return: 0; -EPERM.
 */
int cosy_team_info(struct cosy_team *team, struct cosy_team_info *info, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* COSY_TEAM_H */
