/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * slot.h - what the executor keeps for an entry, and the states of operations.
 */
#ifndef COSY_LOOP_SLOT_H
#define COSY_LOOP_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>

#include "calls.h"
#include "share.h"

#define COSY_NO_SLOT	UINT32_MAX
/* In place of the receive that follows a send: the slot's call waits for something to receive. */
#define COSY_INTO_BUFFER	(UINT32_MAX - 1)

/** enum cosy_slot_state - state of an entry in the executor */
enum cosy_slot_state {
	COSY_SLOT_FREE,
	COSY_SLOT_SUBMITTED,	/* in the ring */
	COSY_SLOT_ATTEMPT,	/* in the batch of attempts */
	COSY_SLOT_SENT,		/* a processor's loop has it */
	COSY_SLOT_IN_MODULE,	/* in the module's page */
	COSY_SLOT_WAITING,	/* in the list of a descriptor */
	COSY_SLOT_SLEEPING,	/* among the timers */
	COSY_SLOT_QUEUED,	/* for a thread */
	COSY_SLOT_RUNNING,	/* a thread makes its call */
	COSY_SLOT_ASKING,	/* a close() that waits for other loops: struct cosy_question */
	COSY_SLOT_DONE,		/* in the ring of completed entries */
	COSY_SLOT_RESERVED,	/* for a function that is running, or a receive after its send */
};

/** enum cosy_list - what entries wait for at a descriptor */
enum cosy_list {
	COSY_LIST_IN,
	COSY_LIST_OUT,
	COSY_LIST_POLL,
	COSY_LISTS,
	COSY_LIST_NONE = COSY_LISTS,
};

/**
 * struct cosy_slot - what the executor keeps for an entry
 * @next:      next in the list that @state names; also in the list of free slots
 * @prev:      previous in the list of a descriptor
 * @state:     enum cosy_slot_state
 * @how:       enum cosy_how; valid once submitted
 * @list:      enum cosy_list: in this list of @fd; at its head unless WAITING
 * @cancelled: complete it with -ECANCELED instead of executing it
 * @polled:    the call cannot be made without blocking
 * @on_disk:   its thread belongs to the pool for calls that use a disk
 * @lent:      IN_MODULE: a thread in the module makes its call
 * @connecting: the call has been made, the connection is being established
 * @buffered:  it reads a file with COSY_ENTRY_BUFFERED, and is in loop->module.reading
 * @reported:  its descriptor was reported ready, and no attempt has transferred anything since
 * @task:      it belongs to a function, until that returns
 * @fd:	       the descriptor it waits for; SENT: the descriptor to forget; SIGNAL: its signalfd
 * @timer:     index in the heap of timers
 * @cpu:       SENT: the processor. RESERVED, of a reply: state of its operation before, as for
 *	       cosy_cpu_choose()
 * @share:     IN_SHARE: the number of the share
 * @queue_next: next in a struct cosy_queue
 * @queue_prev: previous in a struct cosy_queue
 * @receive:   the slot of the receive that follows this send as one operation; COSY_INTO_BUFFER;
 *	       NO_SLOT: none
 * @done:      bytes transferred so far; POLL: the events
 */
struct cosy_slot {
	uint32_t next;
	uint32_t prev;
	uint8_t state;
	uint8_t how;
	uint8_t list;
	bool cancelled : 1;
	bool polled : 1;
	bool on_disk : 1;
	bool lent : 1;
	bool connecting : 1;
	bool buffered : 1;
	bool reported : 1;
	bool task : 1;
	int32_t fd;
	union {
		uint32_t timer;
		uint32_t cpu;
		uint32_t share;
	};
	uint32_t queue_next;
	uint32_t queue_prev;
	uint32_t receive;
	uint64_t done;
};

/** cosy_slot_waits() - return true if there is an entry, and it waits for its descriptor */
static inline bool cosy_slot_waits(const struct cosy_slot *slots, uint32_t slot)
{
	return slot != COSY_NO_SLOT && slots[slot].state == COSY_SLOT_WAITING;
}

/** cosy_slot_call() - make the call of an entry here, whether it is made in a share or not */
static inline long cosy_slot_call(const struct cosy_slot *s, long nr, const uint64_t args[6])
{
	return s->how == COSY_HOW_IN_SHARE ? cosy_call_in_share(s->share, nr, args) :
					     cosy_call_anywhere(nr, args);
}

/** cosy_list_of() - return the list in which calls wait that are ordered by their descriptor */
static inline enum cosy_list cosy_list_of(enum cosy_how how)
{
	switch (how) {
	case COSY_HOW_READ:
	case COSY_HOW_RECEIVE:
	case COSY_HOW_ACCEPT:
		return COSY_LIST_IN;
	case COSY_HOW_WRITE:
	case COSY_HOW_SEND:
	case COSY_HOW_CONNECT:
		return COSY_LIST_OUT;
	default:
		return COSY_LIST_NONE;
	}
}

/*
 * States of a struct cosy_async. <cosy/async.h> contains the value of PENDING. ON + n: submit the
 * operation to processor n.
 */
enum { COSY_OP_IDLE, COSY_OP_PENDING, COSY_OP_COMPLETE, COSY_OP_ON };

/** cosy_op_begin() - make an operation pending */
static inline void cosy_op_begin(struct cosy_async *op, uint32_t slot)
{
	op->slot = slot;
	__atomic_store_n(&op->state, COSY_OP_PENDING, __ATOMIC_RELAXED);
}

/** cosy_op_complete() - end the pending state of an operation, which may then be freed */
static inline void cosy_op_complete(struct cosy_async *op)
{
	__atomic_store_n(&op->state, COSY_OP_COMPLETE, __ATOMIC_RELEASE);
}

#endif /* COSY_LOOP_SLOT_H */
