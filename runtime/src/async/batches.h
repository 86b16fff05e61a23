/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * batches.h - whether the parts of a loop's functions run natively, or as compounds in the module.
 *
 * A thread that waits for a loop continues functions in batches: all those whose calls have ended
 * meanwhile. Natively a batch costs entries into the module, but its answers are sent in one of them,
 * so that the clients wake once. So compounds win where batches are small. No clock is needed: what is
 * counted is what decides.
 */
#ifndef COSY_LOOP_BATCHES_H
#define COSY_LOOP_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Average number of functions in a batch: with at most the first one, compounds are chosen; with more than
 * the second one, native code; between them the choice stays. In an echo server with its client in another
 * process, both take the same number of instructions at five: docs/async.md.
 */
#define COSY_BATCHES_COMPOUNDS	4u
#define COSY_BATCHES_NATIVE	6u

/* Batches that are counted before a choice. Each change doubles them, up to a limit. */
#define COSY_BATCHES_ENOUGH	64u
#define COSY_BATCHES_DOUBLED	8u

/**
 * struct cosy_batches - the batches counted since the last choice, and the choice
 * @compounds: compounds run; accessed relaxed
 * @used:      parts of functions have asked: batches are counted; accessed relaxed
 * @changes:   number of changes, up to COSY_BATCHES_DOUBLED
 * @count:     number of batches
 * @resumed:   number of functions in them
 * @at_once:   functions of a batch when it was last chosen, rounded; 0 before. Accessed relaxed
 */
struct cosy_batches {
	bool compounds;
	bool used;
	uint8_t changes;
	uint32_t count;
	uint32_t resumed;
	uint32_t at_once;
};

/** cosy_batches_add() - count batches. Return true if the choice has changed, and for the first one */
static inline bool cosy_batches_add(struct cosy_batches *b, uint32_t count, uint32_t resumed)
{
	const uint32_t enough = COSY_BATCHES_ENOUGH << b->changes;
	const bool first = !b->at_once;
	bool compounds;

	b->count += count;
	b->resumed += resumed;
	if (b->count < enough && b->resumed < COSY_BATCHES_NATIVE * enough)
		return false;
	compounds = b->resumed <= (b->compounds ? COSY_BATCHES_NATIVE : COSY_BATCHES_COMPOUNDS) * b->count;
	__atomic_store_n(&b->at_once, (b->resumed + b->count / 2) / b->count, __ATOMIC_RELAXED);
	b->count = b->resumed = 0;
	if (compounds == b->compounds)
		return first;
	__atomic_store_n(&b->compounds, compounds, __ATOMIC_RELAXED);
	if (b->changes < COSY_BATCHES_DOUBLED)
		b->changes++;
	return true;
}

#endif /* COSY_LOOP_BATCHES_H */
