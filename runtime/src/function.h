/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * function.h - user functions, as seen from the run path.
 *
 * Programs without user functions do not contain function.c: what the run path
 * needs of it is reached by a pointer that cosy_functions_add() sets.
 */
#ifndef COSY_RUNTIME_FUNCTION_H
#define COSY_RUNTIME_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>
#include <linux/cosy.h>

#include "reserved.h"

/**
 * struct cosy_function_hooks - what function.c does for the run path
 * @upcall: the module has left @run with an up-call. Return: true if it was for
 *	    a user function, and is done: run it natively, or will run in the
 *	    kernel, and resume at run->pc; false: an up-call like any other
 * @failed: the module has left @run with COSY_FAILED: run the function natively
 *	    if it can still be, and resume at run->pc; else does not return but
 *	    by longjmp() out of a signal handler
 *
 * Async-signal-safe, thread-safe.
 */
struct cosy_function_hooks {
	bool (*upcall)(const struct cosy_region *region, struct cosy_reserved *reserved,
		       uint64_t *frame, struct cosy_run *run);
	void (*failed)(const struct cosy_region *region, struct cosy_reserved *reserved,
		       uint64_t *frame, struct cosy_run *run);
};

/* NULL if there are no functions. */
extern const struct cosy_function_hooks *cosy_function_hooks
	__attribute__((visibility("hidden")));

#endif /* COSY_RUNTIME_FUNCTION_H */
