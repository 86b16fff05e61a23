/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watched.h - the functions that libcosy-preload.so interposes to notice their calls.
 */
#ifndef COSY_PRELOAD_WATCHED_H
#define COSY_PRELOAD_WATCHED_H

#include "state.h"

/**
 * cosy_before() - prepare for a call of a function of watched.def or libc.def
 * @function: the function
 * @arg0:     its first argument
 * @arg1:     its second argument
 *
 * Return: the next library's function, to which the stubs jump.
 */
void *cosy_before(enum cosy_function function, long arg0, long arg1)
	COSY_HIDDEN;

/* The calls of the functions of libc.def are still counted. */
extern bool cosy_counts_libc COSY_HIDDEN;

/**
 * cosy_before_libc() - count a call of a function of libc.def
 *
 * After enough of them, the calls that glibc makes itself go through the module (sites.c).
 * Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_libc(void) COSY_HIDDEN;

/* enum cosy_list - functions whose arguments are a list; stubs.S contains the same numbers */
enum cosy_list {
	COSY_LIST_execl,
	COSY_LIST_execle,
	COSY_LIST_execlp,
};

/**
 * cosy_before_list() - execute a program without this library, if the program cannot load it
 * @function: the function that was called
 * @saved:    the registers that the stub has saved, the return address, and the arguments on the stack
 *
 * If this is to be executed without the library, the function returns only after that has failed.
 *
 * Return: the next library's function, or one that returns -1, to which the stub jumps.
 */
void *cosy_before_list(enum cosy_list function, char *const *saved) COSY_HIDDEN;

/**
 * cosy_before_shell() - leave LD_PRELOAD out of the environment if programs cannot load this library
 *
 * Called before the C library executes the shell with the environment of the process. Thread-safe.
 */
void cosy_before_shell(void) COSY_HIDDEN;

/**
 * cosy_before_capabilities() - find out whether this library can be opened without capabilities
 * @option: the option of prctl() that is about to be set
 *
 * Only before programs that are executed may lose capabilities of this process. Async-signal-safe,
 * thread-safe, keeps errno.
 */
void cosy_before_capabilities(long option) COSY_HIDDEN;

/* Programs that are executed may not be able to open this library, although this process is. */
extern bool cosy_needs_capabilities COSY_HIDDEN;

/**
 * cosy_syscall() - make a system call of preload.def for syscall()
 * @nr: its number
 * @a, @b, @c, @d, @e: its arguments; those that it does not have are not used
 *
 * The stub of syscall() jumps here. Like syscall(), it is no cancellation point.
 *
 * Return: as syscall().
 */
long cosy_syscall(long nr, long a, long b, long c, long d, long e) COSY_HIDDEN;

#endif /* COSY_PRELOAD_WATCHED_H */
