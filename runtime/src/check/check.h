/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h - the parts of the check of COSY_BATCH.
 *
 * Code of the plugin calls access.c before accesses and loop.c at each phase of an iteration.
 * loop.c finds conflicts, and report.c prints them.
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
 * @index:  the iteration of the access
 * @phase:  its phase
 * @kind:   the kind of the access
 * @site:   its place in the source
 * @what:   the access in words: "writes 4 bytes at 0x7f00"
 * @is_object: it is an access to an object, not to memory
 * @stamp:  stamp of the later iteration
 * @earlier: the kind of the access of that iteration
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

/* The maximum number of conflicts that wait until their iterations are finished. */
#define COSY_BATCH_CONFLICTS	16

/**
 * struct cosy_batch_loop - a loop that runs, or has been left early
 * @outer: the loop around it, in a calling function
 * @site:  the place of its COSY_BATCH
 * @stack: the lowest address of the frame of its function; functions that the loop calls have
 *	   lower frames
 * @first: number of iterations that were finished in earlier batches
 * @index: the current iteration in this batch
 * @phase: its phase
 * @stamps: stamps of this batch
 * @conflicts: conflicts that are not reported yet
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

/** struct cosy_batch_access - an access to memory or an object */
struct cosy_batch_access {
	uint64_t address;
	size_t size;
	enum cosy_stamp_kind kind;
	const char *site;
	const char *verb;	/* such as "uses"; NULL for the verb of the kind */
	const char *object;	/* such as "the working directory"; NULL for memory */
};

/** cosy_batch_is_idle() - return true if the thread is in no loop, and has left none early */
bool cosy_batch_is_idle(void);

/** cosy_batch_record() - check and record an access of the current iteration */
void cosy_batch_record(const struct cosy_batch_access *a);

/**
 * cosy_batch_forget() - forget the accesses of @size bytes at @address, which are new memory
 */
void cosy_batch_forget(uint64_t address, size_t size);

/*
 * The functions that report end the program, unless COSY_BATCH_CHECK=report.
 */

/** cosy_batch_report_init() - read the environment; once, before the others */
void cosy_batch_report_init(void);

/** cosy_batch_describe() - describe an access in words: "writes 4 bytes at 0x7f00" */
void cosy_batch_describe(char *text, size_t size, const struct cosy_batch_access *a);

/** cosy_batch_report_order() - report a conflict of an iteration that is finished */
void cosy_batch_report_order(const struct cosy_batch_loop *loop,
			     const struct cosy_batch_conflict *c);

/**
 * cosy_batch_report_left() - report a conflict with an iteration that should not have run
 *
 * The iteration @loop->index has left the loop. The access @c reads what a later iteration has
 * changed.
 */
void cosy_batch_report_left(const struct cosy_batch_loop *loop,
			    const struct cosy_batch_conflict *c);

/**
 * cosy_batch_report_end() - report that a loop was left by a call that does not return
 * @loop:    the loop
 * @how:     the call
 * @pending: number of iterations that should have been finished before
 */
void cosy_batch_report_end(const struct cosy_batch_loop *loop, const char *how,
			   uint64_t pending);

#endif /* COSY_CHECK_CHECK_H */
