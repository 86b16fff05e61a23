/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watched.h - the functions that libcosy-preload.so interposes to notice their calls.
 */
#ifndef COSY_PRELOAD_WATCHED_H
#define COSY_PRELOAD_WATCHED_H

#include "state.h"

/**
 * cosy_before() - prepare for a call of a function of watched.def
 * @function: the function
 * @arg0:     its first argument
 * @arg1:     its second argument
 *
 * Return: the next library's function, to which the stubs jump.
 */
void *cosy_before(enum cosy_function function, long arg0, long arg1)
	COSY_HIDDEN;

#endif /* COSY_PRELOAD_WATCHED_H */
