/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tsan.h - tells ThreadSanitizer in the program how a team orders callbacks.
 *
 * libcosy is compiled without the sanitizer, so that it does not see the locks of a team. Without
 * these calls it would report false races. Each colour is a fiber for the sanitizer. So callbacks of
 * one colour are ordered, and those of two colours are not, even if the same worker runs them: it
 * reports data that two colours use. A callback is ordered after the code that has queued it.
 *
 * If the team itself is compiled with the sanitizer, it sees the locks, and these calls do nothing.
 */
#ifndef COSY_TEAM_TSAN_H
#define COSY_TEAM_TSAN_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COSY_TEAM_SANITIZED
#endif
#endif

#ifndef COSY_TEAM_SANITIZED

/* More fibers than the sanitizer has threads end the process. */
#define TSAN_MAX_FIBERS		4000u
#define TSAN_NO_SYNC		1u

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));
void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned int flags) __attribute__((weak));
void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned int flags) __attribute__((weak));

/** tsan_is_used() - test whether the program is compiled with the sanitizer */
static inline bool tsan_is_used(void)
{
	return __tsan_acquire && __tsan_switch_to_fiber;
}

/** tsan_release() - what this thread has done is done before tsan_acquire() of the same address */
static inline void tsan_release(void *address)
{
	if (tsan_is_used())
		__tsan_release(address);
}

static inline void tsan_acquire(void *address)
{
	if (tsan_is_used())
		__tsan_acquire(address);
}

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
	own = __tsan_get_current_fiber();
	if (!*fiber && __atomic_fetch_add(&fibers, 1, __ATOMIC_RELAXED) < TSAN_MAX_FIBERS)
		*fiber = __tsan_create_fiber(0);
	if (!*fiber) {
		__tsan_acquire(fiber);
		return NULL;
	}
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

#else /* COSY_TEAM_SANITIZED */

static inline bool tsan_is_used(void)
{
	return false;
}

static inline void tsan_release(void *address)
{
	(void)address;
}

static inline void tsan_acquire(void *address)
{
	(void)address;
}

static inline void *tsan_enter(void **fiber)
{
	(void)fiber;
	return NULL;
}

static inline void tsan_leave(void **fiber, void *own)
{
	(void)fiber;
	(void)own;
}

static inline void tsan_destroy(void *fiber)
{
	(void)fiber;
}

#endif /* COSY_TEAM_SANITIZED */

#endif /* COSY_TEAM_TSAN_H */
