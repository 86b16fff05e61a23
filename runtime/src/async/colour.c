/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colour.c - callbacks with colours: those of one colour run one after the other.
 *
 * Several threads that wait for a loop call callbacks at the same time. A thread that
 * begins with a colour calls all callbacks of that colour until none is due. Others
 * that deliver an operation of the colour meanwhile only add it to the colour's queue,
 * and continue with other operations. So no thread ever waits for a colour.
 *
 * Zeldovich et al., "Multiprocessor Support for Event-Driven Programs" (libasync-mp):
 * each processor has a queue, to which colours are assigned, and steals from the other
 * queues. Here the completions of a loop are the queue of all threads.
 */
#include "device/export.h"
#include "colour.h"
#include "inline.h"
#include "lock.h"
#include "tsan.h"

COSY_TLS __thread const struct cosy_colours *cosy_thread_colours;

static struct cosy_colour *colour_of(struct cosy_colour *colours, uint64_t number)
{
	/* The upper bits of a product with 2^64 divided by the golden ratio are well mixed. */
	return &colours[number * 0x9e3779b97f4a7c15u >>
			      (64 - COSY_COLOUR_BITS)];
}

/* Call a callback while the loop is destroyed: no other thread can deliver. */
static void call_alone(struct cosy_async *op)
{
	struct cosy_coloured *coloured = (struct cosy_coloured *)op;

	coloured->done(coloured);
}

COSY_EXPORT struct cosy_async *
cosy_colour(struct cosy_coloured *coloured, uint64_t colour,
	    void (*done)(struct cosy_coloured *coloured))
{
	coloured->op.done = call_alone;
	coloured->done = done;
	coloured->colour = colour;
	if (COSY_UNLIKELY(cosy_thread_colours != NULL))
		cosy_thread_colours->prepare(coloured);
	return &coloured->op;
}

bool cosy_is_coloured(const struct cosy_async *op)
{
	return op->done == call_alone;
}

/* Call a callback, and tell ThreadSanitizer after what. The callback may free the operation. */
static COSY_NOINLINE void call_ordered(struct cosy_colour *colour, struct cosy_coloured *coloured)
{
	tsan_acquire(coloured);
	tsan_acquire(colour);
	coloured->done(coloured);
	tsan_release(colour);
}

void cosy_colour_deliver(struct cosy_colour *colours, struct cosy_lock *lock,
			 struct cosy_async *op)
{
	struct cosy_coloured *coloured = (struct cosy_coloured *)op;
	struct cosy_colour *colour = colour_of(colours, coloured->colour);

	coloured->next = NULL;
	if (colour->running) {
		if (colour->first)
			colour->last->next = coloured;
		else
			colour->first = coloured;
		colour->last = coloured;
		return;
	}
	colour->running = true;
	do {
		cosy_unlock(lock);
		if (tsan_is_used())
			call_ordered(colour, coloured);
		else
			coloured->done(coloured);
		cosy_lock(lock);
		coloured = colour->first;
		if (coloured)
			colour->first = coloured->next;
	} while (coloured);
	colour->running = false;
}
