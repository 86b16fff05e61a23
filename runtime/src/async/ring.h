/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.h - the ring of a loop in the module (linux/cosy_ring.h): entries that are written once.
 *
 * The ring belongs to the lock of the loop, or to one thread, which uses it without the lock
 * (cosy/submit.h). That thread is the one that waits, if it is alone and nothing else is
 * outstanding. Another thread that needs the loop takes the ring from it.
 */
#ifndef COSY_RING_H
#define COSY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>
#include <linux/cosy_ring.h>

#include "loop.h"

/**
 * cosy_ring_open() - make and map the ring if the loop has a page in the module
 *
 * Only the first call does anything. Needs the lock.
 */
void cosy_ring_open(struct cosy_loop *loop);

/** cosy_ring_close() - unmap the ring; nothing is outstanding there. @mapped: false in a child */
void cosy_ring_close(struct cosy_loop *loop, bool mapped);

/** cosy_ring_is_open() - return true if operations can be submitted to the ring */
static inline bool cosy_ring_is_open(const struct cosy_loop *loop)
{
	return loop->ring.page && !loop->ring.lost;
}

/** cosy_ring_outstanding() - the number of operations in the ring that were not delivered */
static inline uint32_t cosy_ring_outstanding(const struct cosy_loop *loop)
{
	return loop->ring.page ? loop->mask + 1 - loop->submit->room - loop->ring.held : 0;
}

/** cosy_ring_is_due() - return true if there are entries that the module has not taken */
static inline bool cosy_ring_is_due(const struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;

	return page && (loop->submit->calls_tail != page->calls_head ||
			loop->submit->receives_tail != page->receives_head);
}

/**
 * cosy_ring_answer() - let the module send what callbacks have submitted, if that is little
 *
 * Return: true if it was entered.
 */
static inline bool cosy_ring_answer(struct cosy_loop *loop);

/** cosy_ring_submits() - test whether the ring takes a call, without a look at its order */
bool cosy_ring_submits(enum cosy_how how, long nr, const uint64_t args[6]);

/**
 * cosy_ring_submit() - submit a call to the ring, which takes it; needs the lock
 * @op: an operation that is not pending, or NULL
 */
void cosy_ring_submit(struct cosy_loop *loop, struct cosy_async *op, long nr,
		      const uint64_t args[6]);

/**
 * cosy_ring_yield() - take entries out of the ring that come before another one
 * @how: how this one waits
 * @nr:	 its call
 * @fd:	 its first argument
 *
 * Those for the same descriptor and direction are submitted to the loop's page, in their order.
 */
void cosy_ring_yield(struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd);

/** cosy_ring_make() - let the module execute the ring, without waiting; needs the lock */
void cosy_ring_make(struct cosy_loop *loop);

/** cosy_ring_collect() - take the next completion. Return the operation, or NULL */
struct cosy_async *cosy_ring_collect(struct cosy_loop *loop);

/** cosy_ring_has() - return true if an operation is in the ring */
static inline bool cosy_ring_has(const struct cosy_async *op)
{
	return cosy_async_pending(op) && op->slot & COSY_SUBMIT_RING;
}

/** cosy_ring_cancel() - cancel an operation in the ring. Return 0 or -ENOENT */
int cosy_ring_cancel(struct cosy_loop *loop, struct cosy_async *op);

/** cosy_ring_cancel_fds() - cancel all operations on descriptors. Return their number */
int cosy_ring_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_ring_cancel_all() - cancel all operations in the ring */
void cosy_ring_cancel_all(struct cosy_loop *loop);

/** cosy_ring_lost() - the module cannot be used any more: submit all to the loop's page */
void cosy_ring_lost(struct cosy_loop *loop);

/** cosy_ring_take() - take the ring from the thread that uses it without the lock, which is taken */
void cosy_ring_take(struct cosy_loop *loop);

/** cosy_ring_give() - let the calling thread use the ring without the lock, if that is possible */
bool cosy_ring_give(struct cosy_loop *loop);

/**
 * cosy_ring_wait() - cosy_wait() in the thread that has the ring
 * @min:       as for cosy_wait()
 * @until:     the time until which it waits
 * @delivered: increased
 *
 * The caller has begun to use the ring by cosy_submit_begin(), which this ends.
 *
 * Return: 0; 1: cosy_loop_stop() was called; -EINTR; -EAGAIN: the thread has the ring no longer,
 * and has to go on. Then the lock is taken, and loop->inside counts this thread.
 */
int cosy_ring_wait(struct cosy_loop *loop, unsigned int min, uint64_t until,
		   unsigned int *delivered);

/** cosy_ring_wake() - let the thread leave that sleeps in the ring. Async-signal-safe */
void cosy_ring_wake(const struct cosy_loop *loop);

/** cosy_ring_add_info() - add what the ring has done */
void cosy_ring_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info);

static inline bool cosy_ring_answer(struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;
	const struct cosy_submit *s = loop->submit;
	uint32_t n;

	if (!page)
		return false;
	n = s->calls_tail - page->calls_head;
	if (!n || n >= COSY_MIN_BATCH || s->receives_tail != page->receives_head)
		return false;
	cosy_ring_make(loop);
	return true;
}

#endif /* COSY_RING_H */
