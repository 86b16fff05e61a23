/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - the ring of a loop: its state, and what enters, sleeps in and ends it (ring.c).
 */
#ifndef COSY_ASYNC_RING_H
#define COSY_ASYNC_RING_H

#include <linux/llist.h>
#include <linux/nospec.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/cosy_ring.h>

#include "async/loop.h"

struct cosy_waiter;
struct vm_area_struct;

/**
 * struct cosy_waiters - what a ring keeps for descriptors
 * @of: descriptor -> what is kept for it, or NULL
 * @n:	length of @of
 */
struct cosy_waiters {
	struct cosy_waiter **of;
	u32 n;
};

/**
 * struct cosy_ring - the ring of a loop. The thread that has entered owns it
 * @loop:	   the loop
 * @page:	   the page; the process can write to it at any time
 * @calls:	   the ring of calls, in the page
 * @receives:	   the ring of receives, in the page
 * @done:	   the ring of completions, in the page
 * @buffers:	   the numbers of buffers, in the page
 * @mask:	   number of places - 1
 * @calls_head:	   the kernel's copies of the indices in the page
 * @receives_head: the same
 * @done_tail:	   the same
 * @waiting:	   number of calls that wait
 * @nsending:	   number of these that send
 * @delayed:	   number of consecutive entries into the loop that have made calls only, although
 *		   there were receives to make
 * @asleep:	   a thread sleeps in cosy_ring_sleep(): events wake @sleeper
 * @kicked:	   that thread has to leave
 * @fired:	   waiters whose socket has had an event; events add to it in any context
 * @left:	   waiters taken from @fired whose calls are not made yet, in the order of events
 * @sleeper:	   wakes the sleeping thread; in no queue
 * @sleeping:	   a thread is in cosy_ring_sleep(), asleep or not
 * @executed:	   number of calls made
 * @charged:	   bytes charged to the user who is charged for the loop
 * @receivers:	   for receives
 * @senders:	   for sends
 * @sending:	   the waiters of the sends that wait, by their operations
 * @memory:	   that of the page
 */
struct cosy_ring {
	struct cosy_loop *loop;
	struct cosy_ring_page *page;
	struct cosy_ring_entry *calls;
	struct cosy_ring_entry *receives;
	struct cosy_ring_done *done;
	u32 *buffers;
	u32 mask;
	u32 calls_head;
	u32 receives_head;
	u32 done_tail;
	u32 waiting;
	u32 nsending;
	u32 delayed;
	bool asleep;
	bool kicked;
	bool sleeping;
	struct llist_head fired;
	struct llist_node *left;
	struct wait_queue_entry sleeper;
	struct cosy_waiters receivers;
	struct cosy_waiters senders;
	struct rb_root sending;
	u64 executed;
	u64 charged;
	struct cosy_mappable memory;
};

/* ring.c */
loff_t cosy_ring_enter(struct cosy_loop *loop, u64 what);
unsigned int cosy_ring_execute(struct cosy_ring *ring, unsigned int max, bool sleeps);
bool cosy_ring_has_more(const struct cosy_ring *ring);
loff_t cosy_ring_kick(struct cosy_loop *loop);
unsigned int cosy_ring_return(struct cosy_ring *ring);
int cosy_ring_mmap(struct cosy_loop *loop, struct vm_area_struct *vma);
void cosy_ring_free(struct cosy_ring *ring);

/* sleep.c */
int cosy_ring_sleep(struct cosy_ring *ring, unsigned int max, u64 seccomp);

/**
 * cosy_ring_has_fired() - test whether a call that waits may be made
 * @ring: the ring, or NULL
 *
 * Return: true if the socket of one has had an event.
 */
static inline bool cosy_ring_has_fired(const struct cosy_ring *ring)
{
	return ring && (READ_ONCE(ring->left) || !llist_empty(&ring->fired));
}

static __always_inline struct cosy_waiter *cosy_waiter_find(const struct cosy_waiters *waiters,
							    u64 fd)
{
	if (unlikely(fd >= waiters->n))
		return NULL;
	return waiters->of[array_index_nospec(fd, waiters->n)];
}

/**
 * cosy_receiver_of() - get what a ring keeps for the receives of a descriptor
 * @ring: the ring, entered
 * @fd:   any number
 *
 * Return: the waiter or NULL.
 */
static __always_inline struct cosy_waiter *cosy_receiver_of(const struct cosy_ring *ring, u64 fd)
{
	return cosy_waiter_find(&ring->receivers, fd);
}

/**
 * cosy_sender_of() - get what a ring keeps for the sends of a descriptor
 * @ring: the ring, entered
 * @fd:   any number
 *
 * Return: the waiter or NULL.
 */
static inline struct cosy_waiter *cosy_sender_of(const struct cosy_ring *ring, u64 fd)
{
	return cosy_waiter_find(&ring->senders, fd);
}

#endif /* COSY_ASYNC_RING_H */
