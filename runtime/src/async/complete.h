/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * complete.h - how entries complete, and how their operations are delivered.
 *
 * All is inline: each operation goes through these functions.
 */
#ifndef COSY_LOOP_COMPLETE_H
#define COSY_LOOP_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>
#include <linux/cosy_async.h>

#include "loop.h"
#include "receive.h"
#include "reply.h"

/** cosy_page_release() - free a slot that does not belong to a function */
static inline void cosy_page_release(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots.all[slot].state = COSY_SLOT_FREE;
	loop->slots.all[slot].next = loop->slots.free;
	loop->slots.free = slot;
	loop->slots.outstanding--;
	loop->ring.submit->room++;
}

/**
 * cosy_complete() - complete an entry
 * @slot:   the entry; in no list
 * @result: result of its call
 */
static COSY_ALWAYS_INLINE void cosy_complete(struct cosy_loop *loop,
					     uint32_t slot,
					     int64_t result)
{
	struct cosy_async_page *page = loop->page.shared;
	struct cosy_async_entry *entry = &loop->page.entries[slot];

	loop->info.completed++;
	if (COSY_UNLIKELY(loop->slots.all[slot].receive != COSY_NO_SLOT)) {
		if (loop->slots.all[slot].receive == COSY_INTO_BUFFER)
			cosy_receive_ready(loop, slot, result);
		else
			cosy_reply_sent(loop, slot, result);
		return;
	}
	entry->args[0] = (uint64_t)result;
	entry->status = COSY_ENTRY_DONE;
	if (entry->flags & COSY_ENTRY_SILENT) {
		cosy_page_release(loop, slot);
		return;
	}
	loop->slots.all[slot].state = COSY_SLOT_DONE;
	loop->page.done[page->done_tail & loop->page.mask] = slot;
	cosy_index_store(&page->done_tail, page->done_tail + 1);
}

/**
 * cosy_page_take_result() - store the result of a completed entry in its operation
 *
 * Frees the slot, unless it belongs to a function.
 *
 * Return: the operation.
 */
static COSY_ALWAYS_INLINE struct cosy_async *
cosy_page_take_result(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	struct cosy_async_entry *entry = &loop->page.entries[slot];
	struct cosy_async *op = (struct cosy_async *)(uintptr_t)entry->user_data;

	op->result = result;
	entry->status = COSY_ENTRY_FREE;
	if (loop->slots.all[slot].task)
		loop->slots.all[slot].state = COSY_SLOT_RESERVED;
	else
		cosy_page_release(loop, slot);
	return op;
}

/** cosy_page_done() - return true if there are completed entries */
static COSY_ALWAYS_INLINE bool cosy_page_done(const struct cosy_loop *loop)
{
	const struct cosy_async_page *page = loop->page.shared;

	return page->done_tail != page->done_head || cosy_ring_has_done(&loop->ring);
}

/**
 * struct cosy_delivery - deliveries of a thread that waits
 * @room:  number of operations it may deliver before it checks its goal again; 0 after a stop
 * @count: number of operations it has delivered
 */
struct cosy_delivery {
	unsigned int room;
	unsigned int count;
};

/**
 * cosy_deliver() - make an operation that has its result complete, and call its callback
 *
 * Releases the lock during the callback.
 */
static COSY_ALWAYS_INLINE void cosy_deliver(struct cosy_loop *loop, struct cosy_async *op,
					    struct cosy_delivery *delivery)
{
	void (*done)(struct cosy_async *op) = op->done;

	delivery->room--;
	delivery->count++;
	/* Without a callback, the program may free it from here on. */
	cosy_op_complete(op);
	if (!done)
		return;
	if (cosy_is_coloured(op)) {
		cosy_colour_deliver(loop->colours, &loop->lock, op);
		cosy_loop_tell_order(loop);
	} else {
		cosy_loop_leave(loop);
		cosy_loop_call(loop, op, done);
		cosy_lock(&loop->lock);
	}
	if (cosy_loop_is_stopping(loop))
		delivery->room = 0;
}

/**
 * cosy_complete_now() - complete an entry, and deliver its result unless there are earlier ones
 * @slot:     the entry; in no list
 * @result:   result of its call
 * @delivery: may have room
 *
 * So a server answers a request before it receives the next one, as a program without a loop does.
 * The data is then still in the caches of the CPU and of the kernel.
 */
static COSY_ALWAYS_INLINE void cosy_complete_now(struct cosy_loop *loop, uint32_t slot,
						 int64_t result,
						 struct cosy_delivery *delivery)
{
	const struct cosy_async_page *page = loop->page.shared;

	if (!delivery->room || page->done_head != page->done_tail ||
	    loop->page.entries[slot].flags & COSY_ENTRY_SILENT ||
	    COSY_UNLIKELY(loop->slots.all[slot].receive != COSY_NO_SLOT)) {
		cosy_complete(loop, slot, result);
		return;
	}
	loop->info.completed++;
	cosy_deliver(loop, cosy_page_take_result(loop, slot, result), delivery);
}

#endif /* COSY_LOOP_COMPLETE_H */
