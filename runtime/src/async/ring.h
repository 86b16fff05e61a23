/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.h - the ring of a loop in the module (linux/cosy_ring.h): entries that are written once.
 *
 * The ring belongs to the lock of the loop, or to one thread, which uses it without the lock
 * (cosy/submit.h). That thread is the one that waits, if it is alone and nothing else is
 * outstanding. Another thread that needs the loop takes the ring from it.
 */
#ifndef COSY_LOOP_RING_H
#define COSY_LOOP_RING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>
#include <linux/cosy_ring.h>

#include "buffer.h"
#include "calls.h"
#include "page.h"

struct cosy_loop;

/**
 * struct cosy_ring - a loop's ring in the module
 * @submit:    where entries are written; programs read this, see cosy/submit.h
 * @buffers:   for receives that take one
 * @page:      the ring, or NULL
 * @done:      the ring of completions, in the page
 * @done_head: number of completions collected
 * @untracked_calls: number of places of calls without an operation that the module has not taken
 * @untracked_receives: the same of receives
 * @of_tasks:  number of operations that are calls of functions, which have a slot
 * @cancelled: operations that were cancelled while they waited, and not collected; each one's result is
 *	      the next one
 * @entered:   number of entries into the module
 * @tried:     making the ring was tried
 * @lost:      the module cannot be entered any more
 * @shared:    no thread may use the ring without the lock
 * @up_to_date:it was entered since a thread last began to wait, or checked epoll
 * @taken:     number of times that a thread has got the ring after it was taken from another one
 * @taken_from: the thread from which it was taken since, or NULL
 * @takes_given: what the module has given back is being taken
 * @own_calls: number of consecutive calls that a waiting thread has made itself
 * @error:     errno of the thread that has the ring
 * @others:    while a thread has the ring: entries in the loop's page wait for epoll or a time
 * @until:     that time, or UINT64_MAX
 * @readable:  a thread has left the module because epoll reports something
 * @unseen:    what the module has done since epoll was checked: see cosy_ring_hides_events()
 * @submitted: number of entries written, up to @counted_calls and @counted_receives
 * @counted_calls: number of calls counted, modulo 2^32
 * @counted_receives: number of receives counted, modulo 2^32
 * @moved:     number of entries that were no operations, or are in the loop's page now
 * @here:      number of calls that waiting threads have made themselves
 */
struct cosy_ring {
	struct cosy_submit *submit;
	struct cosy_buffers buffers;
	struct cosy_ring_page *page;
	const struct cosy_ring_done *done;
	uint32_t done_head;
	uint32_t untracked_calls;
	uint32_t untracked_receives;
	uint32_t of_tasks;
	struct cosy_async *cancelled;
	uint64_t entered;
	bool tried;
	bool lost;
	bool shared;
	bool up_to_date;
	bool takes_given;
	uint32_t taken;
	const void *taken_from;
	uint32_t own_calls;
	int *error;
	bool others;
	bool readable;
	uint32_t unseen;
	uint64_t until;
	uint64_t submitted;
	uint32_t counted_calls;
	uint32_t counted_receives;
	uint64_t moved;
	uint64_t here;
};

/* After this number of calls made by a thread, it enters the module, so that others get their turn. */
#define COSY_RING_OWN_CALLS	16

/* After this, epoll is checked also if sockets in the ring are always ready. */
#define COSY_RING_MAX_UNSEEN	256

/**
 * cosy_ring_hides_events() - return true if so much has happened in the ring that epoll has to be checked
 *
 * @unseen counts an entry into the module as 4, and each operation that it has completed as 1. It is larger
 * than the limit also if epoll had more events than were taken when it was last checked.
 */
static inline bool cosy_ring_hides_events(const struct cosy_ring *ring)
{
	return ring->unseen > COSY_RING_MAX_UNSEEN;
}

/* In the slot of an operation that is in the ring: it is the call of a function, which has a slot. */
#define COSY_RING_OF_TASK	(1u << 29)

/* The same: it is a read() or write() of a socket, which the ring makes as recvfrom() or sendto(). */
#define COSY_RING_AS_FILE	(1u << 28)

/* The same: it is a reply, that is a send and a receive, see cosy_async_reply(). */
#define COSY_RING_REPLY		(1u << 27)

/* The same: it opens a file. */
#define COSY_RING_OPENS		(1u << 26)

/* The same: it was cancelled while it waited in the module, and is complete. */
#define COSY_RING_CANCELLED	(1u << 25)

/* The same: it is a COSY_RING_RECEIVE. */
#define COSY_RING_INTO_BUFFER	(1u << 24)

/* The marks of operations of which more than the result is noted. */
#define COSY_RING_NOTED		(COSY_RING_OPENS | COSY_RING_INTO_BUFFER)

/* The marks of operations that complete otherwise than by their result. */
#define COSY_RING_MARKS		(COSY_RING_OF_TASK | COSY_RING_NOTED)

_Static_assert(COSY_SUBMIT_MAX_FD <= COSY_RING_INTO_BUFFER, "a slot has a descriptor below these bits");

/**
 * cosy_ring_open() - make and map the ring if the loop has a page in the module
 *
 * Only the first call does anything. Needs the lock.
 */
void cosy_ring_open(struct cosy_loop *loop);

/** cosy_ring_is_usable() - return true if the loop has a ring and no processors; makes the ring */
bool cosy_ring_is_usable(struct cosy_loop *loop);

/** cosy_ring_close() - unmap the ring; nothing is outstanding there. @mapped: false in a child */
void cosy_ring_close(struct cosy_loop *loop, bool mapped);

/** cosy_ring_is_open() - return true if operations can be submitted to the ring */
static inline bool cosy_ring_is_open(const struct cosy_ring *ring)
{
	return ring->page && !ring->lost;
}

/** cosy_ring_is_due() - return true if there are entries that the module has not taken */
static inline bool cosy_ring_is_due(const struct cosy_ring *ring)
{
	const struct cosy_ring_page *page = ring->page;

	return page && (ring->submit->calls_tail != page->calls_head ||
			ring->submit->receives_tail != page->receives_head);
}

/** cosy_ring_has_done() - return true if the ring has completions to collect */
static inline bool cosy_ring_has_done(const struct cosy_ring *ring)
{
	return ring->page && (ring->cancelled ||
			      ring->done_head != cosy_index_load(&ring->page->done_tail));
}

/** cosy_ring_has() - return true if an operation is in the ring */
static inline bool cosy_ring_has(const struct cosy_async *op)
{
	return cosy_async_pending(op) && op->slot & COSY_SUBMIT_RING;
}

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

/** cosy_ring_cancel() - cancel an operation in the ring. Return 0 or -ENOENT */
int cosy_ring_cancel(struct cosy_loop *loop, struct cosy_async *op);

/** cosy_ring_cancel_taken() - cancel what the module has taken on a descriptor. Return its number */
int cosy_ring_cancel_taken(struct cosy_loop *loop, uint32_t fd);

/** cosy_ring_cancel_fds() - cancel all operations on descriptors. Return their number */
int cosy_ring_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_ring_cancel_stale() - after a descriptor was closed, cancel what waits for that file */
void cosy_ring_cancel_stale(struct cosy_loop *loop, uint32_t fd);

/** cosy_ring_cancel_all() - cancel all operations in the ring */
void cosy_ring_cancel_all(struct cosy_loop *loop);

/**
 * cosy_ring_lost() - note that the module cannot be used any more
 *
 * cosy_ring_make() then submits all to the loop's page: here a batch of attempts may be in use.
 */
void cosy_ring_lost(struct cosy_loop *loop);

/** cosy_ring_take() - take the ring from the thread that uses it without the lock, which is taken */
void cosy_ring_take(struct cosy_loop *loop);

/**
 * cosy_ring_give() - let the calling thread use the ring without the lock, if that is possible
 * @waits: it waits until something has happened
 */
bool cosy_ring_give(struct cosy_loop *loop, bool waits);

/**
 * cosy_ring_wait() - cosy_wait() in the thread that has the ring
 * @min:       as for cosy_wait()
 * @until:     the time until which it waits
 * @stops:     cosy_loop_stops() when the call of the program began
 * @delivered: set to the number of operations that were delivered
 *
 * The caller has begun to use the ring by cosy_submit_begin(), which this ends.
 *
 * Return: 0; 1: cosy_loop_stop() was called; -EINTR; -EAGAIN: the thread has the ring no longer,
 * and has to go on. Then the lock is taken, and loop->inside counts this thread.
 */
int cosy_ring_wait(struct cosy_loop *loop, unsigned int min, uint64_t until,
		   unsigned int stops, unsigned int *delivered);

/** enum cosy_ring_made - what cosy_ring_make_only() has done */
enum cosy_ring_made {
	COSY_RING_COMPLETE,	/* the operation is complete, and was delivered; the ring is not used */
	COSY_RING_IN_USE,	/* nothing: the ring is still used */
	COSY_RING_NOT_IN_USE,	/* the operation completes later; the ring is not used */
};

/**
 * cosy_ring_make_only() - make the only entry that the module has not taken, if its call does not wait
 *
 * A call that never waits is made here by a plain system call, with fewer instructions than to enter the
 * module. If a call was cancelled, only that is delivered. Nothing happens if something else is to be
 * delivered, or the operation has a callback. The caller has begun to use the ring by cosy_submit_begin().
 */
enum cosy_ring_made cosy_ring_make_only(struct cosy_loop *loop);

/** enum cosy_ring_sent - what a send has done that was made by a plain system call, without waiting */
enum cosy_ring_sent {
	COSY_RING_SENT_NOTHING,	/* it has to wait, or the module gives it back, because it is for no socket */
	COSY_RING_SENT_PART,
	COSY_RING_SENT_ALL,	/* or it has failed */
};

/** cosy_ring_sent() - @result: of the call; @size: bytes to send */
static inline enum cosy_ring_sent cosy_ring_sent(int64_t result, uint64_t size)
{
	/* An error may be equal to a size. */
	if (COSY_LIKELY((uint64_t)result == size) && COSY_LIKELY(result >= 0))
		return COSY_RING_SENT_ALL;
	if (result >= 0)
		return COSY_RING_SENT_PART;
	return result == -EAGAIN || result == -ENOTSOCK ? COSY_RING_SENT_NOTHING : COSY_RING_SENT_ALL;
}

/**
 * cosy_ring_is_first() - return true if a call may be made now, before it is submitted
 *
 * The module has taken all entries, and nothing else is to be delivered. The thread has to return to
 * cosy_ring_wait() from time to time.
 */
static inline bool cosy_ring_is_first(const struct cosy_ring *ring)
{
	const struct cosy_submit *s = ring->submit;

	return s->calls_tail == ring->page->calls_head && s->receives_tail == ring->page->receives_head &&
	       ring->done_head == cosy_index_load(&ring->page->done_tail) && !ring->cancelled &&
	       ring->own_calls < COSY_RING_OWN_CALLS;
}

/**
 * cosy_ring_make_first() - let the module make the only call that it has not taken
 * @op:	    its operation
 * @result: set to its result if it was made; may be a member of @op
 * @ret:    set to what the module has returned
 *
 * Return: true if it was made; @op is complete, and its place is the caller's. Otherwise @op completes later,
 * and the caller calls cosy_ring_end_unmade() with @ret.
 */
bool cosy_ring_make_first(struct cosy_loop *loop, struct cosy_async *op, int64_t *result, uint64_t *ret);

/** cosy_ring_end_unmade() - end the use of the ring after cosy_ring_make_first() has returned false */
void cosy_ring_end_unmade(struct cosy_loop *loop, uint64_t ret);

/**
 * cosy_ring_send_rest() - end the use of the ring after a part of a send was made here
 * @sent: number of bytes sent; the send is the last entry, and completes when it has sent the others
 */
void cosy_ring_send_rest(struct cosy_loop *loop, int64_t sent);

/** cosy_ring_wake() - let the thread leave that sleeps in the ring. Async-signal-safe */
void cosy_ring_wake(const struct cosy_loop *loop);

/** cosy_ring_add_info() - add what the ring has done */
void cosy_ring_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info);

#endif /* COSY_LOOP_RING_H */
