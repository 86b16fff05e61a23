/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wait.h - lets threads wait: they execute submitted entries and deliver completions.
 */
#ifndef COSY_LOOP_WAIT_H
#define COSY_LOOP_WAIT_H

#include <stdbool.h>

#include <cosy/async.h>

#include "complete.h"
#include "dispatch.h"
#include "loop.h"
#include "ring.h"

/** cosy_loop_has_work() - return true if there are entries to execute or completions to deliver */
static inline bool cosy_loop_has_work(const struct cosy_loop *loop)
{
	return cosy_page_submitted(&loop->page) || cosy_ring_is_due(&loop->ring) ||
	       cosy_attempts_pending(loop) || cosy_page_done(loop);
}

/**
 * cosy_page_collect() - take the next completed entry
 *
 * Frees its slot. The operation then has its result, but is pending until cosy_op_complete().
 *
 * Return: the operation; NULL if no entry is complete.
 */
struct cosy_async *cosy_page_collect(struct cosy_loop *loop);

/**
 * cosy_execute() - begin with all submitted entries, without waiting
 * @delivery: while it has room, entries that complete immediately are delivered immediately; the
 *	      lock is released meanwhile
 */
void cosy_execute(struct cosy_loop *loop, struct cosy_delivery *delivery);

#endif /* COSY_LOOP_WAIT_H */
