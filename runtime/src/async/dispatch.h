/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * dispatch.h - makes attempts; continues entries whose time has come or whose descriptor is ready.
 */
#ifndef COSY_LOOP_DISPATCH_H
#define COSY_LOOP_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "complete.h"
#include "loop.h"

/** cosy_attempts_make() - make all attempts, and those that result from them */
void cosy_attempts_make(struct cosy_loop *loop);

/**
 * cosy_attempts_pending() - test whether cosy_attempts_make() has anything to do
 *
 * A thread that has made a call may have added attempts while another one was in a callback.
 */
static inline bool cosy_attempts_pending(const struct cosy_loop *loop)
{
	return loop->attempts.count || cosy_module_submitted(&loop->module) ||
	       cosy_module_done(&loop->module);
}

/** cosy_loop_has_work() - return true if there are entries to execute or completions to deliver */
static inline bool cosy_loop_has_work(const struct cosy_loop *loop)
{
	return cosy_page_submitted(&loop->page) || cosy_ring_is_due(&loop->ring) ||
	       cosy_attempts_pending(loop) || cosy_page_done(loop);
}

/** cosy_attempts_flush() - cosy_attempts_make() if the batch has COSY_ATTEMPTS attempts */
static inline void cosy_attempts_flush(struct cosy_loop *loop)
{
	if (loop->attempts.count >= COSY_ATTEMPTS)
		cosy_attempts_make(loop);
}

/** cosy_compound_refused() - complete an entry of kind COMPOUND that the module will not take */
void cosy_compound_refused(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_dispatch_settle() - let the module take all entries, before something is cancelled
 *
 * What has ended is collected: it may be incomplete.
 */
void cosy_dispatch_settle(struct cosy_loop *loop);

/** cosy_dispatch_module() - enter the module, and continue entries that are complete there */
void cosy_dispatch_module(struct cosy_loop *loop);

/**
 * cosy_dispatch_lost() - the module cannot be used any more: let its entries wait for epoll
 *
 * Its page stays, because it may contain results.
 */
void cosy_dispatch_lost(struct cosy_loop *loop);

/** cosy_timers_expire() - complete all entries whose time has come, or attempt their calls */
void cosy_timers_expire(struct cosy_loop *loop);

/** cosy_descriptor_event() - continue entries after epoll has reported events */
void cosy_descriptor_event(struct cosy_loop *loop, int fd, uint32_t events);

#endif /* COSY_LOOP_DISPATCH_H */
