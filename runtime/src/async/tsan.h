/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tsan.h - tells ThreadSanitizer in the program what libcosy orders.
 *
 * libcosy is compiled without the sanitizer, so that it does not see its locks. Without these calls it
 * would report false races. If this code itself is compiled with the sanitizer, it sees the locks, and
 * the calls do nothing.
 */
#ifndef COSY_LOOP_TSAN_H
#define COSY_LOOP_TSAN_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COSY_TSAN_SEES
#endif
#endif

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

/** tsan_is_used() - test whether the program is compiled with the sanitizer, and has to be told */
static inline bool tsan_is_used(void)
{
#ifdef COSY_TSAN_SEES
	return false;
#else
	/* Where this is, so is the other one. */
	return __builtin_expect(__tsan_acquire != NULL, 0);
#endif
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

#endif /* COSY_LOOP_TSAN_H */
