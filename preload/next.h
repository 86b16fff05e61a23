/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * next.h - finds the function that a program calls without a wrapper.
 */
#ifndef COSY_PRELOAD_NEXT_H
#define COSY_PRELOAD_NEXT_H

#include <stdbool.h>

#include "state.h"

struct link_map;

/**
 * cosy_next() - find the function that a wrapper replaces
 * @function: the wrapper's function
 * @route:    out: COSY_ROUTE_MODULE if it is glibc's own, so no other library
 *	      interposes it; COSY_ROUTE_UNKNOWN if that is known only after its
 *	      first call; otherwise COSY_ROUTE_NEXT
 *
 * In libcosy-preload.so (next.c) it is the function in the libraries loaded after this
 * one, like that of dlsym(RTLD_NEXT), but found without a lock. In programs built with
 * -fcosy-auto (auto.c) it is the function that the linker has found for the program.
 * Wrappers may be called in signal handlers, and in the child of a process with
 * many threads. Async-signal-safe, thread-safe.
 *
 * Return: the function, or NULL if there is none.
 */
void *cosy_next(enum cosy_function function, enum cosy_route *route) COSY_HIDDEN;

/**
 * cosy_next_named() - find a function in the libraries loaded after libcosy-preload.so
 * @name: name of the function
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: the function, or NULL if there is none.
 */
void *cosy_next_named(const char *name) COSY_HIDDEN;

/**
 * cosy_libc() - find the C library among the libraries loaded after libcosy-preload.so
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: glibc; NULL for another C library.
 */
const struct link_map *cosy_libc(void) COSY_HIDDEN;

/**
 * cosy_own_path() - return the path by which the dynamic linker has found this library
 *
 * Async-signal-safe, thread-safe.
 *
 * Return: the path; NULL if it is unknown.
 */
const char *cosy_own_path(void) COSY_HIDDEN;

/**
 * cosy_preload_next() - find the C library's function that a wrapper replaces
 * @name: name of the function
 *
 * libcosy uses this to decide whether a region may make the system call, although
 * the program's own calls of the function reach the wrapper here. Thread-safe,
 * async-signal-safe.
 *
 * Return: glibc's function; NULL if another library interposes it after this
 * one, or if there is none.
 */
void *cosy_preload_next(const char *name)
	__attribute__((visibility("default")));

#endif /* COSY_PRELOAD_NEXT_H */
