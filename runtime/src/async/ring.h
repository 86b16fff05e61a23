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

_Static_assert(COSY_SUBMIT_MAX_FD <= COSY_RING_CANCELLED, "a slot has a descriptor below these bits");

/** cosy_ring_outstanding() - the number of operations in the ring that were not delivered */
static inline uint32_t cosy_ring_outstanding(const struct cosy_loop *loop)
{
	const struct cosy_ring *ring = &loop->ring;

	if (!ring->page)
		return 0;
	return loop->mask + 1 - (uint32_t)loop->submit->room - ring->untracked_calls -
	       ring->untracked_receives - loop->outstanding + ring->of_tasks;
}

/** cosy_ring_is_due() - return true if there are entries that the module has not taken */
static inline bool cosy_ring_is_due(const struct cosy_loop *loop)
{
	const struct cosy_ring_page *page = loop->ring.page;

	return page && (loop->submit->calls_tail != page->calls_head ||
			loop->submit->receives_tail != page->receives_head);
}

/** cosy_loop_has_work() - return true if there are entries to execute or completions to deliver */
static inline bool cosy_loop_has_work(const struct cosy_loop *loop)
{
	return loop->page->submit_head != loop->page->submit_tail || cosy_ring_is_due(loop) ||
	       cosy_attempts_pending(loop) || cosy_page_done(loop);
}

/**
 * cosy_ring_answer() - let the module send what callbacks have submitted, if that is little
 *
 * Return: true if it was entered.
 */
static inline bool cosy_ring_answer(struct cosy_loop *loop);

/* Return true if a read() or write() does what recvfrom() or sendto() without flags does. */
static inline bool cosy_ring_transfers(const struct cosy_loop *loop, const struct cosy_async *op,
				       const uint64_t args[6])
{
	const struct cosy_descriptor *d;

	/* What comes back from the ring has to be the original call again: see COSY_RING_AS_FILE. */
	if (!op || (uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
		return false;
	/* With other lengths, these calls fail or end at once, and recvfrom() waits. */
	if (!args[2] || args[2] > INT_MAX)
		return false;
	d = cosy_descriptor_find(loop, (int)args[0]);
	return d && d->kind == COSY_KIND_SOCKET && d->type == SOCK_STREAM;
}

/* Return true if a descriptor is probably a file on a disk. The module looks whether it is one. */
static inline bool cosy_ring_reads(const struct cosy_loop *loop, uint64_t fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, (int)fd);

	return d && (d->kind == COSY_KIND_DISK || d->opened);
}

/*
 * Return true if the ring may close a descriptor: the ring has opened it, and only the ring has used it
 * since. The module looks whether it is a file.
 */
static inline bool cosy_ring_closes(const struct cosy_loop *loop, uint64_t fd)
{
	const struct cosy_descriptor *d = cosy_descriptor_find(loop, (int)fd);

	return d && d->opened && d->kind == COSY_KIND_UNKNOWN && !d->added && !loop->ncpus &&
	       !loop->cpu;
}

/**
 * cosy_ring_submits() - test whether the ring takes a call, without a check of its order
 * @op: the operation, or NULL
 *
 * The loop is locked, or the calling thread has the ring.
 */
static COSY_ALWAYS_INLINE bool cosy_ring_submits(const struct cosy_loop *loop,
						 const struct cosy_async *op, enum cosy_how how,
						 long nr, const uint64_t args[6])
{
	switch (how) {
	case COSY_HOW_DIRECT:
	case COSY_HOW_NOWAIT:
		return true;
	case COSY_HOW_RECEIVE:
		if ((uint32_t)args[0] >= COSY_SUBMIT_MAX_FD)
			return false;
		return nr == SYS_recvfrom ? args[2] && !(args[3] & COSY_RING_RECEIVE_UNUSUAL) :
					    !(args[2] & COSY_RING_RECEIVE_UNUSUAL);
	case COSY_HOW_ACCEPT:
		return (uint32_t)args[0] < COSY_SUBMIT_MAX_FD;
	case COSY_HOW_SEND:
		return !((nr == SYS_sendto ? args[3] : args[2]) & COSY_RING_SEND_UNUSUAL);
	case COSY_HOW_READ:
		if (nr == SYS_pread64 || (nr == SYS_read && cosy_ring_reads(loop, args[0])))
			return true;
		return nr == SYS_read && cosy_ring_transfers(loop, op, args);
	case COSY_HOW_WRITE:
		return nr == SYS_write && cosy_ring_transfers(loop, op, args);
	case COSY_HOW_CLOSE:
		return nr == SYS_close && cosy_ring_closes(loop, args[0]);
	default:
		return false;
	}
}

/* Add a receive that has other arguments than a recvfrom() without an address. */
static inline void cosy_ring_add_receive(struct cosy_loop *loop, struct cosy_async *op, uint32_t nr,
					 const uint64_t args[6])
{
	struct cosy_submit *s = loop->submit;

	cosy_submit_write(s, &s->receives[s->receives_tail++ & s->mask], op,
			  COSY_SUBMIT_RING | COSY_SUBMIT_RECEIVE | (uint32_t)args[0], nr, 6, args[0],
			  args[1], args[2], args[3], args[4], args[5]);
}

/**
 * cosy_ring_submit() - submit a call to the ring, which takes it; needs the lock
 * @op: an operation that is not pending, or NULL
 */
static COSY_ALWAYS_INLINE void cosy_ring_submit(struct cosy_loop *loop, struct cosy_async *op,
						long nr, const uint64_t args[6])
{
	loop->ring.looked = false;
	switch (nr) {
	case SYS_recvfrom:
		if (COSY_UNLIKELY(args[4])) {
			cosy_ring_add_receive(loop, op, SYS_recvfrom, args);
			break;
		}
		cosy_submit_add_receive(loop->submit, op, (uint32_t)args[0], args[1], args[2],
					args[3]);
		break;
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		cosy_ring_add_receive(loop, op, (uint32_t)nr, args);
		break;
	case SYS_read:
		if (cosy_ring_reads(loop, args[0])) {
			cosy_submit_add_call(loop->submit, op, SYS_read, 3, args[0], args[1],
					     args[2], 0, 0, 0);
			break;
		}
		cosy_submit_add_receive(loop->submit, op, (uint32_t)args[0], args[1], args[2], 0);
		op->slot |= COSY_RING_AS_FILE;
		break;
	case SYS_open:
	case SYS_openat:
		cosy_submit_add_call(loop->submit, op, (uint32_t)nr, 4, args[0], args[1], args[2],
				     args[3], 0, 0);
		if (op)
			op->slot |= COSY_RING_OPENS;
		break;
	case SYS_close:
		/* The next file with this number is another one. */
		cosy_descriptor_find(loop, (int)args[0])->opened = false;
		cosy_submit_add_call(loop->submit, op, SYS_close, 1, args[0], 0, 0, 0, 0, 0);
		break;
	case SYS_write:
		cosy_submit_add_call(loop->submit, op, SYS_sendto, 6, args[0], args[1], args[2], 0,
				     0, 0);
		op->slot |= COSY_RING_AS_FILE;
		break;
	default:
		cosy_submit_add_call(loop->submit, op, (uint32_t)nr, 6, args[0], args[1], args[2],
				     args[3], args[4], args[5]);
	}
}

/** cosy_ring_submit_reserved() - the same for a call of a function, which has a slot */
static COSY_ALWAYS_INLINE void cosy_ring_submit_reserved(struct cosy_loop *loop, struct cosy_async *op,
						     long nr, const uint64_t args[6])
{
	/* The slot is its place: there is room for as many as there are slots. */
	loop->submit->room++;
	loop->ring.of_tasks++;
	cosy_ring_submit(loop, op, nr, args);
	op->slot |= COSY_RING_OF_TASK;
}

/** cosy_ring_submit_reply() - submit a reply; it has the arguments of a send and of a receive */
static inline void cosy_ring_submit_reply(struct cosy_submit *s, struct cosy_async *op,
					  const uint64_t send[6], const uint64_t receive[6])
{
	struct cosy_submit_entry *entry = &s->receives[s->receives_tail & s->mask];
	const uint32_t place = s->calls_tail;

	cosy_submit_add_receive(s, op, (uint32_t)receive[0], receive[1], receive[2], receive[3]);
	entry->flags = place << 1 | COSY_RING_LINKED;
	cosy_submit_add_call(s, NULL, SYS_sendto, 5, send[0], send[1], send[2], send[3], 0, 0);
	entry = &s->calls[place & s->mask];
	entry->flags = COSY_RING_LINKED;
	entry->op = (uintptr_t)op;
	op->slot |= COSY_RING_REPLY;
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

/** cosy_ring_has() - return true if an operation is in the ring */
static inline bool cosy_ring_has(const struct cosy_async *op)
{
	return cosy_async_pending(op) && op->slot & COSY_SUBMIT_RING;
}

/** cosy_ring_cancel() - cancel an operation in the ring. Return 0 or -ENOENT */
int cosy_ring_cancel(struct cosy_loop *loop, struct cosy_async *op);

/** cosy_ring_cancel_fds() - cancel all operations on descriptors. Return their number */
int cosy_ring_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_ring_cancel_stale() - after a descriptor was closed, cancel what waits for that file */
void cosy_ring_cancel_stale(struct cosy_loop *loop, uint32_t fd);

/** cosy_ring_cancel_all() - cancel all operations in the ring */
void cosy_ring_cancel_all(struct cosy_loop *loop);

/** cosy_ring_lost() - the module cannot be used any more: submit all to the loop's page */
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
 * @delivered: increased
 *
 * The caller has begun to use the ring by cosy_submit_begin(), which this ends.
 *
 * Return: 0; 1: cosy_loop_stop() was called; -EINTR; -EAGAIN: the thread has the ring no longer,
 * and has to go on. Then the lock is taken, and loop->inside counts this thread.
 */
int cosy_ring_wait(struct cosy_loop *loop, unsigned int min, uint64_t until,
		   unsigned int stops, unsigned int *delivered);

/**
 * cosy_ring_suspend() - end what cosy_submit_begin() has begun for the call of a function
 * @op:	    the operation of the call, which is the last entry
 * @result: set to the result if the call was made
 *
 * If the ring has nothing else to do, the call is made here: the function need not be suspended.
 *
 * Return: true if it was made; false: another thread may resume the function now.
 */
bool cosy_ring_suspend(struct cosy_loop *loop, struct cosy_async *op, int64_t *result);

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
