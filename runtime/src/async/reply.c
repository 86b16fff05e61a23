// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * reply.c - a send and a receive that are one operation.
 *
 * In the ring these are two linked entries (linux/cosy_ring.h). In the loop's page these are two slots:
 * that of the receive is not submitted before the send has ended.
 */
#include <errno.h>
#include <sys/socket.h>

#include "device/export.h"
#include "complete.h"
#include "cpu.h"
#include "loop.h"
#include "reply.h"
#include "ring-submit.h"
#include "start.h"
#include "submit.h"

/*
 * Submit a slot to a processor that the loop chooses, or to the loop itself. @on: state of the operation
 * before it was submitted.
 */
static int submit_slot(struct cosy_loop *loop, uint32_t on, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	struct cosy_cpu *cpu = NULL;

	if (loop->spreads && cosy_cpu_choose(loop, on, entry->nr, (const uint64_t *)entry->args, &cpu))
		return -EINVAL;
	if (cpu) {
		loop->info.submitted++;
		cosy_cpu_send(loop, cpu, slot);
	} else {
		cosy_page_publish(loop, slot);
	}
	return 0;
}

/* Take the slots of a reply. Return that of the send. */
static uint32_t take_slots(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
			   const uint64_t receive[6])
{
	const uint32_t on = op->state;
	uint32_t second = cosy_page_take(loop, op, COSY_HOW_RECEIVE, SYS_recvfrom, receive);
	uint32_t first = cosy_page_take(loop, op, COSY_HOW_SEND, SYS_sendto, send);

	/* While the send is pending, cosy_cancel() finds only its slot. */
	loop->slots.all[second].state = COSY_SLOT_RESERVED;
	loop->slots.all[second].cpu = on;
	loop->slots.all[first].receive = second;
	return first;
}

void cosy_reply_submit(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
		       int32_t sent, const uint64_t receive[6])
{
	const bool task = op->slot & COSY_RING_OF_TASK;
	uint32_t slot;

	/* A function receives when it is resumed after its send. */
	if (task)
		cosy_above.only_sends(op);
	loop->info.submitted++;
	if (sent < 0) {
		slot = cosy_page_take_again(loop, op, COSY_HOW_SEND, SYS_sendto, send);
		cosy_complete(loop, slot, sent);
		return;
	}
	slot = task ? cosy_page_take_again(loop, op, COSY_HOW_SEND, SYS_sendto, send) :
		      take_slots(loop, op, send, receive);
	/* Begin at once, as cosy_page_submit_again() does. */
	if (sent)
		cosy_start_sent(loop, slot, (uint32_t)sent);
	else
		cosy_start(loop, slot);
}

void cosy_reply_sent(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	uint32_t receive = loop->slots.all[slot].receive;
	struct cosy_async *op = (struct cosy_async *)(uintptr_t)entry->user_data;
	bool complete = result >= 0 && (uint64_t)result == entry->args[2];

	/* The page has room for all slots, so the receive can be published after this. */
	cosy_page_release(loop, slot);
	op->slot = receive;
	loop->slots.all[receive].state = COSY_SLOT_SUBMITTED;
	if (complete && !loop->closing &&
	    !submit_slot(loop, loop->slots.all[receive].cpu, receive)) {
		cosy_loop_wake(loop);
		return;
	}
	loop->info.submitted++;
	cosy_complete(loop, receive, result < 0 ? result : -ECANCELED);
}

/* Return true if the ring takes both calls of a reply. */
static bool ring_submits(const struct cosy_loop *loop, const uint64_t send[6],
			 const uint64_t receive[6])
{
	return cosy_ring_submits(loop, NULL, COSY_HOW_SEND, SYS_sendto, send) &&
	       cosy_ring_submits(loop, NULL, COSY_HOW_RECEIVE, SYS_recvfrom, receive);
}

/* Submit a reply with the lock taken. Return 0 or -errno. */
static int reply_locked(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
			 const uint64_t receive[6])
{
	const uint32_t on = op->state;
	int err = cosy_page_check(loop, op, 2);

	if (!err && !cosy_cpu_is_valid(loop, on))
		err = -EINVAL;
	if (err)
		return err;
	if (cosy_ring_is_usable(loop) && ring_submits(loop, send, receive) &&
	    !cosy_page_precedes(loop, COSY_HOW_SEND, SYS_sendto, send[0]) &&
	    !cosy_page_precedes(loop, COSY_HOW_RECEIVE, SYS_recvfrom, receive[0])) {
		cosy_ring_submit_reply(loop, op, send, receive);
	} else {
		cosy_ring_yield(loop, COSY_HOW_SEND, SYS_sendto, send[0]);
		cosy_ring_yield(loop, COSY_HOW_RECEIVE, SYS_recvfrom, receive[0]);
		submit_slot(loop, on, take_slots(loop, op, send, receive));
	}
	cosy_loop_wake(loop);
	return 0;
}

COSY_EXPORT int cosy_async_reply(struct cosy_loop *loop, struct cosy_async *op, int fd,
				 const void *answer, size_t length, int flags, void *buffer,
				 size_t size)
{
	const uint64_t send[6] = {
		(uint32_t)fd, (uintptr_t)answer, length, (uint32_t)flags,
	};
	const uint64_t receive[6] = { (uint32_t)fd, (uintptr_t)buffer, size };
	int err;

	if (!op)
		return -EINVAL;
	if (loop->has_ring && cosy_submit_begin_op(loop->ring.submit, op)) {
		bool submits = loop->ring.submit->room > 1 && ring_submits(loop, send, receive);

		if (submits)
			cosy_ring_submit_reply(loop, op, send, receive);
		cosy_submit_end(loop->ring.submit);
		if (submits)
			return 0;
	}
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	err = reply_locked(loop, op, send, receive);
	cosy_loop_leave(loop);
	return err;
}
