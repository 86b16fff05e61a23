/* SPDX-License-Identifier: GPL-2.0 */
/*
 * receive.h - receives of a ring: they are made, or wait for their socket (receive.c).
 */
#ifndef COSY_ASYNC_RECEIVE_H
#define COSY_ASYNC_RECEIVE_H

#include <linux/llist.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "async/loop.h"

struct cosy_ring;
struct cosy_ring_entry;
struct pt_regs;

/**
 * struct cosy_receiver - what a ring keeps for a descriptor from which entries receive
 * @wait:   link in the wait queue of the socket, if @queued
 * @node:   link in the list of those whose socket has had an event, if @fired
 * @ring:   the ring, which frees this before itself
 * @target: the socket; its object is NULL if there was none, or it was forgotten
 * @fd:	    the descriptor
 * @waits:  a receive waits: @op, @buffer, @size and @flags. Events are ignored otherwise
 * @queued: it is in the wait queue. It stays there, because the next receive often waits, too
 * @fired:  it is in a list of the ring
 * @unused: number of consecutive receives that did not have to wait
 * @op:	    operation of the receive that waits
 * @buffer: its arguments
 * @size:   the same
 * @flags:  the same
 */
struct cosy_receiver {
	struct wait_queue_entry wait;
	struct llist_node node;
	struct cosy_ring *ring;
	struct cosy_target target;
	u32 fd;
	bool waits;
	bool queued;
	bool fired;
	u8 unused;
	u64 op;
	u64 buffer;
	u64 size;
	u64 flags;
};

/**
 * enum cosy_receive_end - how an attempt to receive has ended
 * @COSY_RECEIVE_MADE:	   the call has a result
 * @COSY_RECEIVE_WAITS:	   it waits
 * @COSY_RECEIVE_GIVEN:	   the process has to make the call
 * @COSY_RECEIVE_SECOND:   another receive waits for the descriptor: the process has to make both
 * @COSY_RECEIVE_AGAIN:	   nothing has happened; make it again after a signal
 */
enum cosy_receive_end {
	COSY_RECEIVE_MADE,
	COSY_RECEIVE_WAITS,
	COSY_RECEIVE_GIVEN,
	COSY_RECEIVE_SECOND,
	COSY_RECEIVE_AGAIN,
};

enum cosy_receive_end cosy_receive(struct cosy_ring *ring, struct pt_regs *regs, u64 op,
				   s64 *result);
enum cosy_receive_end cosy_receive_fired(struct cosy_receiver *receiver, struct pt_regs *regs,
					 s64 *result);
struct cosy_receiver *cosy_receiver_of(const struct cosy_ring *ring, u64 fd);
struct cosy_receiver *cosy_receiver_next(struct cosy_ring *ring);
void cosy_receiver_again(struct cosy_receiver *receiver);
void cosy_receiver_end(struct cosy_receiver *receiver);
void cosy_receiver_forget(struct cosy_receiver *receiver);
void cosy_receivers_free(struct cosy_ring *ring);

#endif /* COSY_ASYNC_RECEIVE_H */
