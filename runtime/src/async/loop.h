/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h - a loop, which is composed of the parts of the other files.
 *
 * Its lock protects everything but the indices of its page. It is not held during callbacks and
 * blocking calls. It is held during attempts, which do not block.
 *
 * Files that include this header have those of the parts, too.
 */
#ifndef COSY_LOOP_H
#define COSY_LOOP_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/async.h>

#include "above.h"
#include "attempt.h"
#include "batches.h"
#include "colour.h"
#include "descriptor.h"
#include "inline.h"
#include "lock.h"
#include "module.h"
#include "page.h"
#include "ring.h"
#include "thread.h"
#include "timer.h"
#include "tsan.h"

struct cosy_cpu;
struct cosy_cpus;

/**
 * struct cosy_sharing - a loop in the list of those whose operations have used shares
 * @next:     the next one
 * @previous: pointer to it; NULL: the loop is not in the list
 * @pins:     number of threads that use the loop because it is in the list
 */
struct cosy_sharing {
	struct cosy_loop *next;
	struct cosy_loop **previous;
	uint32_t pins;
};

/**
 * struct cosy_loop - a loop
 * @ring:	the ring in the module
 * @lock:	protects all of it
 * @owner:	points to 1 in the process that created the loop, and to 0 in a child
 * @page:	the syscall page
 * @fds:	the descriptors for which entries wait
 * @timers:	the entries that wait for a time
 * @module:	the page in the module
 * @threads:	the threads that make calls
 * @batches:	of functions that were continued at once: whether compounds win
 * @cpu:	the processor whose loop this is, or NULL
 * @cpus:	the processors to which operations are sent, or NULL
 * @mark:	mark of the loop's descriptors, also of those of its entries, or 0: they have none
 * @wake_fd:	an eventfd in the epoll set
 * @timer_fd:	a timerfd in it for @external, or -1
 * @alarm:	the time for which @timer_fd is set, or 0
 * @woken:	@wake_fd is readable
 * @external:	another event loop polls the epoll set: make it readable whenever there is work
 * @blocked:	a thread waits for the epoll set
 * @closing:	the loop is being destroyed
 * @spreads:	the loop has processors
 * @biased:	a thread uses the ring without the lock
 * @has_ring:	the loop has a ring
 * @sanitized:	the program is compiled with ThreadSanitizer, which is told what is ordered
 * @needs_check:	not 0 if a submission has to check the members from @external on
 * @stops:	two for each call of cosy_loop_stop(); COSY_STOPPING until calls have returned for it
 * @deliver:	called in place of the callbacks of operations that have no colour of the loop; or NULL
 * @awaits_ops:	the @blocked thread waits for certain operations
 * @waiters:	number of threads that wait for @changed
 * @inside:	number of threads in functions that execute and deliver
 * @changed:	signalled when there are completions, or @blocked was cleared
 * @epoll_skips: number of consecutive times that epoll was not checked, because there was work
 * @info:	counts
 * @attempts:	the calls to attempt
 * @sharing:	its place in the list of loops whose operations use shares
 * @colours:	the colours of callbacks
 */
struct cosy_loop {
	struct cosy_ring ring;
	struct cosy_lock lock;
	volatile int *owner;
	struct cosy_page page;
	struct cosy_slots slots;
	struct cosy_descriptors fds;
	struct cosy_timers timers;
	struct cosy_module module;
	struct cosy_threads threads;
	struct cosy_batches batches;
	struct cosy_cpu *cpu;
	struct cosy_cpus *cpus;
	int mark;
	int wake_fd;
	int timer_fd;
	uint64_t alarm;
	bool woken;
	union {
		struct {
			bool external;
			bool blocked;
			bool closing;
			bool spreads;
			bool biased;
			bool has_ring;
			bool sanitized;
		};
		uint64_t needs_check;
	};
	atomic_uint stops;
	void (*deliver)(struct cosy_loop *loop, struct cosy_async *op);
	bool awaits_ops;
	uint32_t waiters;
	uint32_t inside;
	struct cosy_event changed;
	uint32_t epoll_skips;
	struct cosy_loop_info info;
	struct cosy_attempts attempts;
	struct cosy_sharing sharing;
	struct cosy_colour colours[1 << COSY_COLOUR_BITS];
};

/** cosy_ring_outstanding() - the number of operations in the ring that were not delivered */
static COSY_ALWAYS_INLINE uint32_t cosy_ring_outstanding(const struct cosy_loop *loop)
{
	const struct cosy_ring *ring = &loop->ring;

	if (!ring->page)
		return 0;
	return loop->page.mask + 1 - (uint32_t)ring->submit->room - ring->untracked_calls -
	       ring->untracked_receives - loop->slots.outstanding + ring->of_tasks;
}

/** cosy_loop_is_used() - return true if anything may be outstanding; needs no lock */
static inline bool cosy_loop_is_used(const struct cosy_loop *loop)
{
	return __atomic_load_n(&loop->ring.submit->room, __ATOMIC_RELAXED) != (int32_t)loop->page.mask + 1;
}

/** cosy_loop_asks() - return true if closes wait for other loops of the group; needs no lock */
static inline bool cosy_loop_asks(const struct cosy_loop *loop)
{
	return __atomic_load_n(&loop->fds.questions, __ATOMIC_RELAXED);
}

_Static_assert(offsetof(struct cosy_loop, ring.submit) == 0, "as cosy/submit.h says");

/** cosy_loop_resumed() - count batches of functions, and let all functions ask if the choice changes */
static inline void cosy_loop_resumed(struct cosy_loop *loop, uint32_t batches, uint32_t resumed)
{
	if (cosy_batches_add(&loop->batches, batches, resumed))
		cosy_above.ask_tasks(loop);
}

/** cosy_slot_is_in_share() - return true if the call of an entry is made in a share */
static inline bool cosy_slot_is_in_share(const struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	return loop->slots.all[slot].how == COSY_HOW_IN_SHARE ||
	       cosy_names_share(entry->nr, (const uint64_t *)entry->args);
}

/** cosy_loop_call() - call the callback of an operation that has one, without the lock */
static COSY_ALWAYS_INLINE void cosy_loop_call(struct cosy_loop *loop, struct cosy_async *op,
					      void (*done)(struct cosy_async *op))
{
	if (COSY_UNLIKELY(loop->deliver != NULL))
		loop->deliver(loop, op);
	else
		done(op);
}

/**
 * cosy_loop_publish() - for ThreadSanitizer: this thread submits an operation
 *
 * What the thread has done is done before the operation's callback, in whatever thread.
 */
static inline void cosy_loop_publish(const struct cosy_loop *loop, struct cosy_async *op)
{
	if (COSY_UNLIKELY(loop->sanitized) && op)
		tsan_release(op);
}

/**
 * cosy_loop_tell_order() - for ThreadSanitizer: this thread has run a callback
 *
 * It is done before a thread returns that waits, and takes the lock afterwards.
 */
static inline void cosy_loop_tell_order(struct cosy_loop *loop)
{
	if (COSY_UNLIKELY(loop->sanitized))
		tsan_release(loop);
}

#define COSY_STOPPING	1u

/** cosy_loop_is_stopping() - test whether calls have to return because of cosy_loop_stop() */
static inline bool cosy_loop_is_stopping(const struct cosy_loop *loop)
{
	return atomic_load_explicit(&loop->stops, memory_order_relaxed) & COSY_STOPPING;
}

/** cosy_loop_stops() - return what loop->stops is while cosy_loop_stop() is not called again */
static inline unsigned int cosy_loop_stops(const struct cosy_loop *loop)
{
	return atomic_load_explicit(&loop->stops, memory_order_relaxed) & ~COSY_STOPPING;
}

/** cosy_loop_has_stopped() - note that the last call has returned, or will, for cosy_loop_stop() */
static inline void cosy_loop_has_stopped(struct cosy_loop *loop)
{
	atomic_fetch_and(&loop->stops, ~COSY_STOPPING);
}

/**
 * cosy_loop_uses_share() - note that an operation of a loop uses a share. Return: 0 or -ENOMEM
 *
 * Before it waits: a share that ends cancels operations in these loops.
 */
int cosy_loop_uses_share(struct cosy_loop *loop);

/** cosy_loop_uses_no_share() - remove a loop from that list; no thread uses the loop */
void cosy_loop_uses_no_share(struct cosy_loop *loop);

/** cosy_loops_each() - call a function for each loop in the list, without a lock */
void cosy_loops_each(void (*use)(struct cosy_loop *loop, void *arg), void *arg);

/** cosy_loop_enter() - take the lock. Return: 0, or -EPERM in a child */
int cosy_loop_enter(struct cosy_loop *loop);

/** cosy_loop_leave() - release the lock */
static inline void cosy_loop_leave(struct cosy_loop *loop)
{
	cosy_unlock(&loop->lock);
}

/** cosy_loop_changed() - wake all threads that wait for loop->changed */
static inline void cosy_loop_changed(struct cosy_loop *loop)
{
	if (loop->waiters)
		cosy_event_happened(&loop->changed, INT_MAX);
}

/**
 * cosy_loop_owns() - test whether a number still refers to a descriptor of the loop
 * @fd: the number, or -1
 *
 * The program may have closed it, and opened another file with the same number. Async-signal-safe.
 */
bool cosy_loop_owns(const struct cosy_loop *loop, int fd);

/** cosy_loop_own() - mark a descriptor that the loop has opened. Return: 0 or -errno */
int cosy_loop_own(const struct cosy_loop *loop, int fd);

/** cosy_loop_close_fd() - close a descriptor if it is still the loop's; may be -1 */
void cosy_loop_close_fd(const struct cosy_loop *loop, int fd);

/** cosy_loop_alert() - make @wake_fd readable. Async-signal-safe */
void cosy_loop_alert(const struct cosy_loop *loop);

/** cosy_loop_write_wake_fd() - the same, and note it */
void cosy_loop_write_wake_fd(struct cosy_loop *loop);

/**
 * cosy_loop_wake() - wake the thread, or the other event loop, that waits for epoll
 */
static inline void cosy_loop_wake(struct cosy_loop *loop)
{
	if ((loop->blocked || loop->external) && !loop->woken)
		cosy_loop_write_wake_fd(loop);
}

/** cosy_loop_tell() - wake all that wait, because an operation is complete */
static inline void cosy_loop_tell(struct cosy_loop *loop)
{
	cosy_loop_wake(loop);
	cosy_loop_changed(loop);
}

#endif /* COSY_LOOP_H */
