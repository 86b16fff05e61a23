/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wait.h - calls of a ring that receive, accept and send: they are made, or wait for their socket
 * (wait.c).
 */
#ifndef COSY_ASYNC_WAIT_H
#define COSY_ASYNC_WAIT_H

#include <linux/llist.h>
#include <linux/ptrace.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/unistd.h>
#include <linux/wait.h>

#include <linux/cosy_ring.h>

#include "async/loop.h"

struct cosy_ring;
struct cosy_ring_entry;
struct pt_regs;

/**
 * struct cosy_waiter - what a ring keeps for a descriptor and a direction: receiving or sending
 * @wait:   link in the wait queue of the socket, if @queued
 * @node:   link in the list of those whose socket has had an event, if @fired
 * @by_op:  node in ring->sending, if a send waits
 * @ring:   the ring, which frees this before itself
 * @target: the socket; its object is NULL if there was none, or it was forgotten
 * @fd:	    the descriptor
 * @nr:	    number of the call that waits; 0: a recvfrom() without an address; COSY_WAITER_BUFFER
 * @waits:  a call waits: @nr, @op and its arguments. Events are ignored otherwise
 * @sends:  the calls of this waiter send
 * @queued: it is in the wait queue. A waiter that receives stays there, because the next call
 *	    often waits, too
 * @fired:  it is in a list of the ring
 * @unused: number of consecutive receives that did not have to wait
 * @op:	    operation of the call that waits
 * @args:   its arguments after the descriptor; of a recvfrom() without an address only three
 */
struct cosy_waiter {
	struct wait_queue_entry wait;
	struct llist_node node;
	struct rb_node by_op;
	struct cosy_ring *ring;
	struct cosy_target target;
	u32 fd;
	u16 nr;
	bool waits;
	bool sends;
	bool queued;
	bool fired;
	u8 unused;
	u64 op;
	u64 args[5];
};

/* In place of the number of a call: a COSY_RING_RECEIVE. */
#define COSY_WAITER_BUFFER	U16_MAX

/**
 * enum cosy_wait_end - how an attempt to make a call has ended
 * @COSY_WAIT_MADE:   the call has a result
 * @COSY_WAIT_LINKED_SENT: a linked send was made, which does not complete
 * @COSY_WAIT_LINKED_FAILED: it has not sent all: the process has to continue it
 * @COSY_WAIT_WAITS:  it waits
 * @COSY_WAIT_ALONE:  the process has to make the call, and others may overtake it
 * @COSY_WAIT_GIVEN:  the process has to make the call; later calls may have to be made after it
 * @COSY_WAIT_SECOND: another call waits for the descriptor and direction: the process has to make
 *		      both
 * @COSY_WAIT_AGAIN:  nothing has happened; make it again after a signal
 */
enum cosy_wait_end {
	COSY_WAIT_MADE,
	COSY_WAIT_LINKED_SENT,
	COSY_WAIT_LINKED_FAILED,
	COSY_WAIT_WAITS,
	COSY_WAIT_ALONE,
	COSY_WAIT_GIVEN,
	COSY_WAIT_SECOND,
	COSY_WAIT_AGAIN,
};

/**
 * cosy_call_receives() - test whether a call belongs to the receives of a ring
 * @nr: its number
 *
 * Return: true if it receives or accepts.
 */
static inline bool cosy_call_receives(u32 nr)
{
	return nr == __NR_recvfrom || nr == __NR_recvmsg || nr == __NR_accept ||
	       nr == __NR_accept4 || nr == COSY_RING_RECEIVE;
}

enum cosy_wait_end cosy_receive(struct cosy_ring *ring, u32 nr, struct pt_regs *regs, u64 op,
				s64 *result);
enum cosy_wait_end cosy_receive_usual(struct cosy_ring *ring, struct cosy_waiter *waiter,
				      struct file *file, struct socket *socket,
				      const struct pt_regs *regs, u64 op, s64 *result);
enum cosy_wait_end cosy_receive_ended(struct cosy_ring *ring, struct cosy_waiter *waiter,
				      struct file *file, struct socket *socket, u32 nr,
				      const struct pt_regs *regs, u64 op, s64 *result);
enum cosy_wait_end cosy_send(struct cosy_ring *ring, u32 nr, struct pt_regs *regs, u32 flags,
			     u64 op, s64 *result, u32 *sent);
enum cosy_wait_end cosy_send_ended(struct cosy_ring *ring, struct file *file, struct socket *socket,
				   const struct pt_regs *regs, u32 flags, u64 op, s64 result,
				   u32 *sent);
enum cosy_wait_end cosy_waiter_fired(struct cosy_waiter *waiter, const struct pt_regs *regs,
				     s64 *result, u32 *sent);
void cosy_waiter_again(struct cosy_waiter *waiter);
void cosy_waiter_end(struct cosy_waiter *waiter);
void cosy_waiter_forget(struct cosy_waiter *waiter);
void cosy_waiter_step_aside(struct cosy_ring *ring, u64 fd);
bool cosy_waiter_is_current(const struct cosy_waiter *waiter);
void cosy_waiters_free(struct cosy_ring *ring);

/**
 * cosy_waiter_nr() - get the number of a call that waits
 * @waiter: what waits
 *
 * Return: the number.
 */
static inline u32 cosy_waiter_nr(const struct cosy_waiter *waiter)
{
	if (waiter->nr == COSY_WAITER_BUFFER)
		return COSY_RING_RECEIVE;
	return waiter->nr ?: __NR_recvfrom;
}

/* Set @regs to the arguments of a call that waits. Those that it does not use are 0. */
static __always_inline void cosy_waiter_args(const struct cosy_waiter *waiter,
					     struct pt_regs *regs)
{
	regs->di = waiter->fd;
	regs->si = waiter->args[0];
	regs->dx = waiter->args[1];
	regs->r10 = waiter->args[2];
	regs->r8 = unlikely(waiter->nr) ? waiter->args[3] : 0;
	regs->r9 = unlikely(waiter->nr) ? waiter->args[4] : 0;
}

#endif /* COSY_ASYNC_WAIT_H */
