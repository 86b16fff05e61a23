/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tsan.h - tells ThreadSanitizer in the program how a team orders callbacks.
 *
 * Each colour is a fiber for the sanitizer. So callbacks of one colour are ordered, and those of two
 * colours are not, even if the same worker runs them: it reports data that two colours use. A callback
 * is ordered after the code that has queued it.
 */
#ifndef COSY_TEAM_TSAN_H
#define COSY_TEAM_TSAN_H

#include <stddef.h>

#include "async/tsan.h"

/* More fibers than the sanitizer has threads end the process. */
#define TSAN_MAX_FIBERS		4000u
#define TSAN_NO_SYNC		1u

void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned int flags) __attribute__((weak));
void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned int flags) __attribute__((weak));

/**
 * tsan_enter() - begin to run callbacks of a colour
 *
 * Return: the worker's own fiber; NULL if there are too many fibers: then callbacks of the colour are
 * ordered with each other, and with all others of the same worker.
 */
static inline void *tsan_enter(void **fiber)
{
	static unsigned int fibers;
	void *own;

	if (!tsan_is_used())
		return NULL;
	/* Sanitizers of old compilers have no fibers. */
	if (!*fiber && __tsan_switch_to_fiber &&
	    __atomic_fetch_add(&fibers, 1, __ATOMIC_RELAXED) < TSAN_MAX_FIBERS)
		*fiber = __tsan_create_fiber(0);
	if (!*fiber) {
		__tsan_acquire(fiber);
		return NULL;
	}
	own = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(*fiber, TSAN_NO_SYNC);
	return own;
}

/** tsan_leave() - end that; @own: what tsan_enter() has returned */
static inline void tsan_leave(void **fiber, void *own)
{
	if (own)
		__tsan_switch_to_fiber(own, TSAN_NO_SYNC);
	else
		tsan_release(fiber);
}

static inline void tsan_destroy(void *fiber)
{
	if (fiber)
		__tsan_destroy_fiber(fiber);
}

#endif /* COSY_TEAM_TSAN_H */
