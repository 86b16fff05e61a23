/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hooks.h - pointers to functions of parts that a program need not contain.
 *
 * A static program contains function.c only if it has user functions, and region/compound.c only
 * if it calls cosy_init(). Callers find them by these pointers, which those parts set.
 */
#ifndef COSY_FUNCTION_HOOKS_H
#define COSY_FUNCTION_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/region.h>
#include <linux/cosy.h>

struct cosy;
struct cosy_counts;

/**
 * struct cosy_function_hooks - what function.c does for a run
 * @upcall: handle an up-call for which the module has left @run. Return: true if it was the call
 *	    of a user function. Then the function has run natively, or will run in the kernel, and
 *	    the run resumes at run->pc; false: it is another up-call, which the caller makes
 * @failed: handle COSY_FAILED, with which the module has left @run. Runs the function natively if
 *	    that is possible, and the run resumes at run->pc. Otherwise raises the signal that the
 *	    native code would have raised, and returns only by longjmp() out of its handler
 *
 * @may_run_in_kernel: test whether the module may call all user functions of a region: none runs
 *	    natively for good, and each is loaded for a segment
 * @unload: this copy of libcosy is unloaded: let libbpf forget it, and close its descriptors if there is no
 *	    other thread. Not async-signal-safe
 *
 * @counts: counts of the region; NULL if they are not needed. Async-signal-safe, thread-safe.
 */
struct cosy_function_hooks {
	bool (*upcall)(const struct cosy_region *region, struct cosy_counts *counts,
		       uint64_t *frame, struct cosy_run *run);
	void (*failed)(const struct cosy_region *region, struct cosy_counts *counts,
		       uint64_t *frame, struct cosy_run *run);
	bool (*may_run_in_kernel)(const struct cosy_region *region);
	void (*unload)(bool alone);
};

/** cosy_function_hooks - set by cosy_functions_add(); NULL if there are no user functions */
extern const struct cosy_function_hooks *cosy_function_hooks
	__attribute__((visibility("hidden")));

/**
 * cosy_compound_free - free a compound of cosy_init(); NULL if there is none
 *
 * For cosy_free(). Takes any pointer, and returns false if that is not a live compound.
 * Thread-safe.
 */
extern bool (*cosy_compound_free)(struct cosy *compound)
	__attribute__((visibility("hidden")));

#endif /* COSY_FUNCTION_HOOKS_H */
