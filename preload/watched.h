/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watched.h - the functions that libcosy-preload.so interposes to notice them.
 */
#ifndef COSY_PRELOAD_WATCHED_H
#define COSY_PRELOAD_WATCHED_H

#include "state.h"

/**
 * cosy_before() - before a function of watched.def is called
 * @function: which
 * @arg0:     its first argument, and
 * @arg1:     its second
 *
 * Return: the next library's function; the stubs jump there.
 */
void *cosy_before(enum cosy_function function, long arg0, long arg1)
	COSY_HIDDEN;

#endif /* COSY_PRELOAD_WATCHED_H */
