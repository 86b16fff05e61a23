/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inline.h - how functions are inlined.
 */
#ifndef COSY_LOOP_INLINE_H
#define COSY_LOOP_INLINE_H

/* For functions that nearly every operation executes. */
#define COSY_ALWAYS_INLINE	inline __attribute__((always_inline))

/* For the slow paths of these functions. */
#define COSY_NOINLINE	__attribute__((noinline))

#define COSY_LIKELY(condition)		__builtin_expect(!!(condition), 1)
#define COSY_UNLIKELY(condition)	__builtin_expect(!!(condition), 0)

#endif /* COSY_LOOP_INLINE_H */
