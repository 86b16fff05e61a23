/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colour.h - callbacks with colours: those of one colour run one after the other.
 */
#ifndef COSY_LOOP_COLOUR_H
#define COSY_LOOP_COLOUR_H

#include <stdbool.h>

#include <cosy/async.h>

#include "device/export.h"
#include "lock.h"

/* Colours are hashed to this number of bits. Colours with the same hash are treated as one. */
#define COSY_COLOUR_BITS	8

/**
 * struct cosy_colour - callbacks that may not run at the same time
 * @running: a thread runs one of them, and then those that are due
 * @first:   the oldest operation whose callback is due, or NULL
 * @last:    the newest one; valid if @first is not NULL
 */
struct cosy_colour {
	bool running;
	struct cosy_coloured *first;
	struct cosy_coloured *last;
};

/**
 * struct cosy_colours - colours of a layer above, for what a thread submits
 * @prepare: at the end of cosy_colour(): set op.done of @coloured, which is then called instead of
 *	     its callback. It may use @next until that callback is called
 * @hold:    after @prepare, for a function: a new function has the colour of @coloured
 * @release: the function has returned, or could not be started
 */
struct cosy_colours {
	void (*prepare)(struct cosy_coloured *coloured);
	void (*hold)(struct cosy_coloured *coloured);
	void (*release)(struct cosy_coloured *coloured);
};

/* The colours of the calling thread; NULL: those of the loop. */
extern COSY_TLS __thread const struct cosy_colours *cosy_thread_colours;

/** cosy_is_coloured() - test whether an operation's callback has a colour */
bool cosy_is_coloured(const struct cosy_async *op);

/**
 * cosy_colour_deliver() - call the callback of a coloured operation, which is complete
 * @colours: the colours of the loop
 * @lock:    its lock, which is released meanwhile
 * @op:	     the operation
 *
 * If a thread runs callbacks of that colour, the callback is left to it.
 */
void cosy_colour_deliver(struct cosy_colour *colours, struct cosy_lock *lock,
			 struct cosy_async *op);

#endif /* COSY_LOOP_COLOUR_H */
