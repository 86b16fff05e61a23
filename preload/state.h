/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * state.h - what a process knows about the functions and about the device.
 */
#ifndef COSY_PRELOAD_STATE_H
#define COSY_PRELOAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/cosy.h>

/* enum cosy_function - the functions that are interposed */
enum cosy_function {
#define COSY_PRELOAD_IF(function, name, ...) COSY_FN_##function,
#include <preload.def>
#define COSY_WATCHED(function, notice) COSY_FN_##function,
#include "watched.def"
	COSY_FUNCTIONS
};

/**
 * enum cosy_route - how calls of a function are made
 * @COSY_ROUTE_UNKNOWN: to be decided
 * @COSY_ROUTE_MODULE:	by the module, if the device is open
 * @COSY_ROUTE_NEXT:	always by the next library
 */
enum cosy_route {
	COSY_ROUTE_UNKNOWN,
	COSY_ROUTE_MODULE,
	COSY_ROUTE_NEXT,
};

/* What cosy_device is besides a descriptor. */
#define COSY_DEVICE_CLOSED	(-1)	/* to be opened after some more calls */
#define COSY_DEVICE_OFF		(-2)	/* not used any more; final */
#define COSY_DEVICE_OPENING	(-3)	/* being opened by a thread */

#define COSY_HIDDEN __attribute__((visibility("hidden")))
/* What the compiler inserts calls of: libcosy.so exports it. */
#ifdef COSY_SHARED
#define COSY_CALLED __attribute__((visibility("default")))
#else
#define COSY_CALLED COSY_HIDDEN
#endif
/* Keeps the caller's registers, so that its fast path need not save any. */
#define COSY_SLOW_PATH __attribute__((preserve_most, visibility("hidden")))

/* Changed with atomic accesses, mostly relaxed: stale values are as good. */
extern int cosy_device COSY_HIDDEN;
extern uint8_t cosy_routes[COSY_FUNCTIONS] COSY_HIDDEN;
extern void *cosy_nexts[COSY_FUNCTIONS] COSY_HIDDEN;

/**
 * cosy_prepare() - the slow path before a call
 * @function: which is called
 *
 * Finds the next library's function, and opens the device when the process has
 * made so many calls that it pays. Async-signal-safe, thread-safe, keeps errno.
 *
 * Return: true if the call may be made by the module.
 */
bool cosy_prepare(enum cosy_function function) COSY_SLOW_PATH;

/**
 * cosy_not_made() - an entry has not returned COSY_CALL_DONE
 * @function: which is called
 * @call:     the call
 * @ret:      what the entry returned
 *
 * Return: true if @ret is the call's result; false if it was not made.
 */
bool cosy_not_made(enum cosy_function function, const struct cosy_call *call,
		   long ret) COSY_SLOW_PATH;

/**
 * cosy_failed() - set errno
 * @result: -errno
 *
 * Return: -1.
 */
long cosy_failed(long result) COSY_HIDDEN;

/**
 * cosy_resolve() - decide how calls of a function are made
 * @function: which
 *
 * Sets its route and its next function. Async-signal-safe, thread-safe.
 *
 * Return: the next function.
 */
void *cosy_resolve(enum cosy_function function) COSY_HIDDEN;

/**
 * cosy_shared_device() - the descriptor of the device that regions have opened
 *
 * The regions of the same program or shared library. It is not to be closed, and its
 * number costs forks nothing. Async-signal-safe, thread-safe.
 *
 * Return: the descriptor; negative if there is none.
 */
int cosy_shared_device(void) COSY_HIDDEN;

/**
 * cosy_before_fork() - the process is about to fork
 *
 * Closes the device, unless regions use it, too. Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_fork(void) COSY_CALLED;

/**
 * cosy_before_filter() - the process is about to set a seccomp filter
 *
 * Closes the device for good. Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_filter(void) COSY_CALLED;

/**
 * cosy_after_filter() - a filter has been set that may kill for an entry
 *
 * Makes no system call, and uses the device no more. Async-signal-safe, thread-safe.
 */
void cosy_after_filter(void) COSY_HIDDEN;

/**
 * cosy_before_prctl() - cosy_before_filter() before prctl(), if that sets a filter
 * @option: its first argument
 */
void cosy_before_prctl(long option) COSY_CALLED;

/**
 * cosy_before_syscall() - cosy_before_filter() before syscall(), if that sets a filter
 * @nr:   number of the system call
 * @arg0: its first argument; ignored unless @nr is that of prctl()
 */
void cosy_before_syscall(long nr, long arg0) COSY_CALLED;

/** cosy_function_name() - return the name of a function */
const char *cosy_function_name(enum cosy_function function) COSY_HIDDEN;

/** cosy_left_alone() - return true if no calls of this process may be changed. Keeps errno. */
bool cosy_left_alone(void) COSY_HIDDEN;

/**
 * cosy_from_first_call() - return true if all calls, from the first on, must use the device
 * while it can be opened. Keeps errno.
 */
bool cosy_from_first_call(void) COSY_HIDDEN;

#endif /* COSY_PRELOAD_STATE_H */
