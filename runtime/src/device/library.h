/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * library.h - recognises the C library's functions, which a compound may replace.
 */
#ifndef COSY_LIBRARY_H
#define COSY_LIBRARY_H

#include <stdbool.h>

#include <cosy/region.h>

/**
 * cosy_library_foreign() - find a function that is not the one the compound replaces
 * @library: the functions that a compound replaces, or NULL
 *
 * A program may define link() itself, and a library that is loaded before libc may define open().
 * Then the linker has resolved the names to those functions. A program may also define a function of
 * a library that it uses.
 *
 * Return: the first such function; NULL if there is none.
 * Thread-safe; not async-signal-safe.
 */
const struct cosy_library_function *cosy_library_foreign(const struct cosy_library *library);

/**
 * cosy_library_contains() - test whether a function is the C library's
 * @name:    the function
 * @address: its address, as the linker has resolved it
 *
 * Thread-safe; not async-signal-safe.
 */
bool cosy_library_contains(const char *name, uintptr_t address);

/**
 * cosy_library_intercepted() - test whether a function is the wrapper of a sanitizer
 * @name:    the function of the C library that it wraps
 * @address: its address, as the linker has resolved it
 *
 * Thread-safe; not async-signal-safe.
 */
bool cosy_library_intercepted(const char *name, uintptr_t address);

#endif /* COSY_LIBRARY_H */
