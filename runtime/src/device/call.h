/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * call.h - what the result of a single call (struct cosy_call of linux/cosy.h) means.
 *
 * Needs no C library: preload/ includes it, too.
 */
#ifndef COSY_CALL_H
#define COSY_CALL_H

#include <linux/cosy.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * enum cosy_answer - how an entry for a single call has ended, if the call was not simply made
 * @COSY_ANSWER_RESULT: the call was interrupted: the entry's result is the call's
 * @COSY_ANSWER_TRACED: not made, because the thread is traced: do not use the device for now
 * @COSY_ANSWER_NEVER:  not made, and calls of this number never will be
 * @COSY_ANSWER_LOST:   not made: the descriptor is not the device's any more
 */
enum cosy_answer {
	COSY_ANSWER_RESULT,
	COSY_ANSWER_TRACED,
	COSY_ANSWER_NEVER,
	COSY_ANSWER_LOST,
};

/** cosy_call_is_made() - test whether the lower half of @ret is the result of the call */
static inline __attribute__((always_inline)) bool cosy_call_is_made(long ret)
{
	return (uint64_t)ret >> 32 == COSY_CALL_DONE >> 32;
}

/**
 * cosy_call_answer() - why an entry has not simply made its call
 * @call: the call
 * @ret:  result of the entry, for which cosy_call_is_made() is false
 *
 * After all answers but COSY_ANSWER_RESULT the call must be made natively.
 */
static inline enum cosy_answer cosy_call_answer(const struct cosy_call *call, long ret)
{
	if (call->status == COSY_CALL_INTERRUPTED && ret == -EINTR)
		return COSY_ANSWER_RESULT;
	switch ((uint64_t)ret) {
	case COSY_CALL_LEFT | COSY_CALL_TRACED:
		return COSY_ANSWER_TRACED;
	case COSY_CALL_LEFT | COSY_CALL_UNKNOWN:
	/* A filter stays in force for ever. */
	case COSY_CALL_LEFT | COSY_CALL_FILTERED:
		return COSY_ANSWER_NEVER;
	default:
		return COSY_ANSWER_LOST;
	}
}

#endif /* COSY_CALL_H */
