/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * state.h - the state of the functions and of the device in a process.
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
#define COSY_REALPATH(function) COSY_FN_##function,
#include "realpath.def"
#define COSY_LIBC(function) COSY_FN_##function,
#include "libc.def"
/* Not functions, but places in the C library, which have a route, too. */
	COSY_FN_SITES,
	COSY_FN_LAST_FUNCTION = COSY_FN_SITES - 1,
#define COSY_SITE(site, ...) COSY_FN_site_##site,
#include "sites.def"
	COSY_FUNCTIONS
};

/**
 * enum cosy_route - how calls of a function are made
 * @COSY_ROUTE_UNKNOWN: not decided yet
 * @COSY_ROUTE_MODULE:	by the module, if the device is open
 * @COSY_ROUTE_NEXT:	always by the next library
 */
enum cosy_route {
	COSY_ROUTE_UNKNOWN,
	COSY_ROUTE_MODULE,
	COSY_ROUTE_NEXT,
};

/* Values of cosy_device that are not descriptors. */
#define COSY_DEVICE_CLOSED	(-1)	/* will be opened after more calls */
#define COSY_DEVICE_OFF		(-2)	/* not used any more; final */
#define COSY_DEVICE_OPENING	(-3)	/* a thread is opening it */

#define COSY_HIDDEN __attribute__((visibility("hidden")))
/* For functions whose calls the compiler inserts: libcosy.so exports them. */
#ifdef COSY_SHARED
#define COSY_CALLED __attribute__((visibility("default")))
#else
#define COSY_CALLED COSY_HIDDEN
#endif
/*
 * The function preserves the caller's registers, so that the caller's fast path saves none. gcc does
 * not have this calling convention.
 */
#if __has_attribute(preserve_most)
#define COSY_SLOW_PATH __attribute__((preserve_most, visibility("hidden")))
#else
#define COSY_SLOW_PATH COSY_HIDDEN
#endif

/**
 * union cosy_device - the device
 * @fd:	     its descriptor, or a value above; the assembler code reads it, too
 * @changes: number of changes, by which a thread notices that the device was closed, and opened again with the
 *	     same number
 * @all:     both, to compare and change them at once
 */
union cosy_device {
	struct {
		int fd;
		uint32_t changes;
	};
	uint64_t all;
};

/* Accessed atomically, mostly relaxed: stale values do no harm. */
extern union cosy_device cosy_device COSY_HIDDEN;
extern uint8_t cosy_routes[COSY_FUNCTIONS] COSY_HIDDEN;
extern void *cosy_nexts[COSY_FUNCTIONS] COSY_HIDDEN;
/*
 * glibc's variable __libc_single_threaded, NULL in a glibc without it; and whether glibc cancels a thread only
 * before a system call or while it blocks, since 2.41. Both are set before the first route to the module.
 */
extern const char *cosy_single_threaded COSY_HIDDEN;
extern bool cosy_exact_cancellation COSY_HIDDEN;

/**
 * cosy_prepare() - the slow path before a call
 * @function: the function that is called
 *
 * Finds the next library's function, and opens the device after the process has
 * made enough calls. Async-signal-safe, thread-safe, keeps errno.
 *
 * Return: true if the call may be made by the module.
 */
bool cosy_prepare(enum cosy_function function) COSY_SLOW_PATH;

/**
 * cosy_not_made() - the slow path after an entry that did not return COSY_CALL_DONE
 * @function: the function that is called
 * @call:     the call
 * @ret:      the return value of the entry
 * @fd:       the descriptor that the entry used
 *
 * Return: true if @ret is the call's result; false if it was not made.
 */
bool cosy_not_made(enum cosy_function function, const struct cosy_call *call,
		   long ret, int fd) COSY_SLOW_PATH;

/**
 * cosy_failed() - set errno
 * @result: -errno
 *
 * Return: -1.
 */
long cosy_failed(long result) COSY_HIDDEN;

/**
 * cosy_resolve() - decide how calls of a function are made
 * @function: the function
 *
 * Sets its route and its next function. Async-signal-safe, thread-safe.
 *
 * Return: the next function.
 */
void *cosy_resolve(enum cosy_function function) COSY_HIDDEN;

/**
 * cosy_shared_device() - return the descriptor of the device that regions have opened
 *
 * These are regions of the same program or shared library. The descriptor must not be closed.
 * Its number does not make forks slower. Async-signal-safe, thread-safe.
 *
 * Return: the descriptor; negative if there is none.
 */
int cosy_shared_device(void) COSY_HIDDEN;

/**
 * cosy_count_call() - count a call that the module could make, and open the device after enough
 *
 * Async-signal-safe, thread-safe, keeps errno.
 *
 * Return: the descriptor, or a value of cosy_device that is none.
 */
int cosy_count_call(void) COSY_HIDDEN;

/**
 * cosy_before_fork() - close the device before a fork, unless regions use it, too
 *
 * Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_fork(void) COSY_CALLED;

/**
 * cosy_before_limit() - close the device before the process changes a limit
 *
 * Below a higher limit of descriptors, the device's number would be one that the program gets.
 * The device stays open if regions use it. Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_limit(void) COSY_CALLED;

/**
 * cosy_before_filter() - close the device for good before the process sets a seccomp filter, or
 * a handler of its system calls
 *
 * Async-signal-safe, thread-safe, keeps errno.
 */
void cosy_before_filter(void) COSY_CALLED;

/**
 * cosy_after_filter() - stop using the device, because a filter may kill the process for an entry
 *
 * Makes no system call. Async-signal-safe, thread-safe.
 */
void cosy_after_filter(void) COSY_HIDDEN;

/**
 * cosy_before_prctl() - call cosy_before_filter() if prctl() will set a filter or a handler
 * @option: its first argument
 */
void cosy_before_prctl(long option) COSY_CALLED;

/**
 * cosy_before_syscall() - prepare for a filter or a limit that syscall() will set
 * @nr:   number of the system call
 * @arg0: its first argument; ignored unless @nr is that of prctl()
 */
void cosy_before_syscall(long nr, long arg0) COSY_CALLED;

/** cosy_function_name() - return the name of a function */
const char *cosy_function_name(enum cosy_function function) COSY_HIDDEN;

/**
 * cosy_is_loaded() - return true if the environment has been read
 *
 * It has not in constructors that run before this library's.
 */
bool cosy_is_loaded(void) COSY_HIDDEN;

/**
 * cosy_always_native() - return true if the environment says that all calls must be native
 *
 * Call it only after cosy_is_loaded() has returned true. Makes no system call.
 */
bool cosy_always_native(void) COSY_HIDDEN;

/**
 * cosy_is_in_except_file() - return true if the program is named in /etc/cosy/run-except
 *
 * Then all its calls must be native. Keeps errno.
 */
bool cosy_is_in_except_file(void) COSY_HIDDEN;

/**
 * cosy_prints_messages() - return true if COSY_DEBUG asks for messages
 */
bool cosy_prints_messages(void) COSY_HIDDEN;

/**
 * cosy_opens_at_first_call() - return true if the device must be opened at the first call
 */
bool cosy_opens_at_first_call(void) COSY_HIDDEN;

/**
 * cosy_leaves_libc() - return true if COSY_RUN_LIBC=0 asks to leave the C library's code alone
 */
bool cosy_leaves_libc(void) COSY_HIDDEN;

#endif /* COSY_PRELOAD_STATE_H */
