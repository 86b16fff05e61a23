/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h - the parts of the check of COSY_BATCH.
 *
 * access.c is told what the program accesses, loop.c which iteration
 * runs, and finds conflicts; report.c says so.
 */
#ifndef COSY_CHECK_CHECK_H
#define COSY_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/batch-check.h>

#include "check/stamps.h"

/**
 * struct cosy_batch_conflict - an access that follows one of a later iteration
 * @index:  its iteration
 * @phase:  the phase of that
 * @kind:   what it does
 * @site:   where
 * @what:   in words: "writes 4 bytes at 0x7f00"
 * @is_object: not to memory
 * @stamp:  of the later iteration
 * @earlier: what that has done
 */
struct cosy_batch_conflict {
	uint64_t index;
	enum cosy_batch_phase phase;
	enum cosy_stamp_kind kind;
	const char *site;
	char what[200];
	bool is_object;
	uint64_t stamp;
	enum cosy_stamp_kind earlier;
};

/* How many are remembered until their iterations are finished. */
#define COSY_BATCH_CONFLICTS	16

/**
 * struct cosy_batch_loop - a loop that runs, or has been left early
 * @outer: the loop around it, in a calling function
 * @site:  its COSY_BATCH
 * @stack: the lowest address of the frame of its function; what is below belongs
 *	   to functions that the loop calls
 * @first: iterations that were finished in earlier batches
 * @index: the iteration that runs
 * @phase: its phase
 * @stamps: of the batch
 * @conflicts: not reported yet
 * @num_conflicts: their number
 */
struct cosy_batch_loop {
	struct cosy_batch_loop *outer;
	const char *site;
	const char *stack;
	uint64_t first, index;
	enum cosy_batch_phase phase;
	struct cosy_stamps stamps;
	struct cosy_batch_conflict conflicts[COSY_BATCH_CONFLICTS];
	unsigned int num_conflicts;
};

/** struct cosy_batch_access - what is done to memory or an object, in words, too */
struct cosy_batch_access {
	uint64_t address;
	size_t size;
	enum cosy_stamp_kind kind;
	const char *site;
	const char *verb;	/* "uses"; NULL: as the kind is */
	const char *object;	/* "the working directory"; NULL: memory */
};

/** cosy_batch_is_idle() - test that the thread is in no loop, and has left none early */
bool cosy_batch_is_idle(void);

/** cosy_batch_record() - @a takes place in the current iteration */
void cosy_batch_record(const struct cosy_batch_access *a);

/**
 * cosy_batch_forget() - @size bytes at @address are new
 *
 * Who accessed what was there before does not matter.
 */
void cosy_batch_forget(uint64_t address, size_t size);

/*
 * The functions that report end the program, unless COSY_BATCH_CHECK=report.
 */

/** cosy_batch_report_init() - read the environment; once, before the others */
void cosy_batch_report_init(void);

/** cosy_batch_describe() - @a in words: "writes 4 bytes at 0x7f00" */
void cosy_batch_describe(char *text, size_t size, const struct cosy_batch_access *a);

/** cosy_batch_report_order() - the iteration of @c is finished, others follow it */
void cosy_batch_report_order(const struct cosy_batch_loop *loop,
			     const struct cosy_batch_conflict *c);

/**
 * cosy_batch_report_left() - the iteration @loop->index has left the loop
 *
 * After that, or before, @c reads what an iteration has changed that the loop as
 * written does not run.
 */
void cosy_batch_report_left(const struct cosy_batch_loop *loop,
			    const struct cosy_batch_conflict *c);

/**
 * cosy_batch_report_end() - @loop was left by @how, a call that does not return
 * @pending: iterations that should have been finished before
 */
void cosy_batch_report_end(const struct cosy_batch_loop *loop, const char *how,
			   uint64_t pending);

#endif /* COSY_CHECK_CHECK_H */
