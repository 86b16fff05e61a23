/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * static-libc.h - recognises libc's functions in a statically linked program.
 */
#ifndef COSY_STATIC_LIBC_H
#define COSY_STATIC_LIBC_H

#include <stdbool.h>
#include <stdint.h>

/**
 * cosy_static_libc_contains() - test whether a function belongs to a static libc
 * @function: its address, in the program's code
 * @end:      the end of that code
 *
 * Return: false if it does not, or if that is unknown. Thread-safe, async-signal-safe.
 */
bool cosy_static_libc_contains(uintptr_t function, uintptr_t end)
	__attribute__((visibility("hidden")));

#endif /* COSY_STATIC_LIBC_H */
