/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * next.h - which function a program would call if this library were not there.
 */
#ifndef COSY_PRELOAD_NEXT_H
#define COSY_PRELOAD_NEXT_H

#include <stdbool.h>

/**
 * cosy_next() - find a function in the libraries loaded after this one
 * @name:     its name
 * @is_libc:  out: it is glibc's own, so nobody else interposes it
 *
 * What dlsym(RTLD_NEXT) finds, but without a lock: the functions that this
 * library interposes may be called in signal handlers, and in the child of a
 * process with many threads. Async-signal-safe, thread-safe.
 *
 * Return: the function, or NULL if there is none.
 */
void *cosy_next(const char *name, bool *is_libc)
	__attribute__((visibility("hidden")));

/**
 * cosy_preload_next() - the C library's function that a wrapper stands for
 * @name: name of the function
 *
 * libcosy looks this up to tell whether a region may make the call itself,
 * although the program's own calls of the function reach the wrapper here.
 * Thread-safe, async-signal-safe.
 *
 * Return: glibc's function; NULL if another library interposes it after this
 * one, or if there is none.
 */
void *cosy_preload_next(const char *name)
	__attribute__((visibility("default")));

#endif /* COSY_PRELOAD_NEXT_H */
