/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * submit.h - submits calls to the loop's page, or to a processor.
 */
#ifndef COSY_LOOP_SUBMIT_H
#define COSY_LOOP_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>

#include "loop.h"

struct cosy_cpu;

/**
 * cosy_page_reserve() - take a slot for a function that begins
 * @op:   the operation of each of its calls. It completes immediately, so that the function is
 *	  resumed for the first time
 * @slot: set to the slot
 *
 * Return: 0, -EAGAIN or -ESHUTDOWN.
 */
int cosy_page_reserve(struct cosy_loop *loop, struct cosy_async *op, uint32_t *slot);

/**
 * cosy_page_submit_reserved() - submit a call of a function
 * @slot: its slot, whose entry is set
 */
void cosy_page_submit_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			   enum cosy_how how);

/** cosy_page_wait_reserved() - let a call of a function, which has waited in the module, wait here */
void cosy_page_wait_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 enum cosy_how how);

/** cosy_page_send_reserved() - send the compound of a function to a processor; the entry is set */
void cosy_page_send_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 struct cosy_cpu *cpu);

/**
 * cosy_page_take_again() - take a slot for a call that the ring does not make, and set its entry
 * @op: the operation, or NULL; the call of a function has the function's slot
 *
 * Return: the slot.
 */
uint32_t cosy_page_take_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			      long nr, const uint64_t args[6]);

/**
 * cosy_page_submit_again() - submit a call that the ring does not make
 * @flags: number of bytes that it has sent, or COSY_RING_WAITED
 */
void cosy_page_submit_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			    long nr, const uint64_t args[6], uint32_t flags);

/**
 * cosy_page_submit_anywhere() - submit a call to the ring if that takes it, or to the loop's page
 * @op:  an operation that is not pending, or NULL
 * @how: how the call waits; or COMPOUND
 *
 * The loop must have a free slot.
 */
void cosy_page_submit_anywhere(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			       long nr, const uint64_t args[6]);

/**
 * cosy_page_take() - take a slot, of which one is free, for a call, and set its entry
 * @op: an operation that is not pending, or NULL
 *
 * The caller publishes or starts it.
 *
 * Return: the slot.
 */
uint32_t cosy_page_take(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how, long nr,
			const uint64_t args[6]);

/**
 * cosy_page_check() - test whether an operation can be submitted
 * @op:	    the operation, or NULL
 * @places: number of places that it needs
 *
 * Return: 0, -ESHUTDOWN, -EBUSY or -EAGAIN.
 */
int cosy_page_check(const struct cosy_loop *loop, struct cosy_async *op, int32_t places);

/** cosy_page_publish() - submit the entry of a slot that cosy_page_take() has returned */
static COSY_ALWAYS_INLINE void cosy_page_publish(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_async_page *page = loop->page.shared;
	uint32_t tail = page->submit_tail;

	cosy_descriptor_submits(&loop->fds, loop->page.entries[slot].nr,
				(const uint64_t *)loop->page.entries[slot].args);
	loop->page.submitted[tail & loop->page.mask] = slot;
	cosy_index_store(&page->submit_tail, tail + 1);
	loop->info.submitted++;
}

/** cosy_page_precedes() - return true if an entry of the loop's page has to come before a call */
bool cosy_page_precedes(const struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd);

#endif /* COSY_LOOP_SUBMIT_H */
