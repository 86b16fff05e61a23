/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * options.h - the options of libcosy in the environment.
 */
#ifndef COSY_OPTIONS_H
#define COSY_OPTIONS_H

#include <stdbool.h>

/** enum cosy_executor - which executor runs the regions (COSY_EXECUTOR) */
enum cosy_executor {
	COSY_EXECUTOR_AUTO,	/* the kernel where regions gain, otherwise the native code */
	COSY_EXECUTOR_KERNEL,	/* the kernel; prints why, if it cannot */
	COSY_EXECUTOR_USER,	/* the executor in libcosy, in user mode */
	COSY_EXECUTOR_NATIVE,	/* the native code */
};

/** enum cosy_functions - where user functions run (COSY_FUNCTIONS) */
enum cosy_functions {
	COSY_FUNCTIONS_AUTO,	/* where it takes less time */
	COSY_FUNCTIONS_KERNEL,	/* the same as COSY_EXECUTOR_KERNEL, for functions */
	COSY_FUNCTIONS_NATIVE,	/* natively */
};

/**
 * struct cosy_options - the environment, read once
 * @executor: COSY_EXECUTOR
 * @functions: COSY_FUNCTIONS
 * @stats:    COSY_STATS: count, and print the counts at exit
 * @debug:    COSY_DEBUG: print why something is not done in the kernel
 * @plain:    COSY_FAST=0: the module makes each call without a fast path
 */
struct cosy_options {
	enum cosy_executor executor;
	enum cosy_functions functions;
	bool stats;
	bool debug;
	bool plain;
};

/**
 * cosy_options() - return the options of this process
 *
 * The first call reads the environment; later calls return the same. A program that runs with more
 * privileges than its caller (AT_SECURE) gets the defaults, and its regions run natively.
 * Thread-safe; async-signal-safe after the first call.
 */
struct cosy_options cosy_options(void);

/**
 * cosy_options_stats_file() - return the name of the file for COSY_STATS
 *
 * Return: the name, in the environment; NULL if it is 1, for standard error.
 */
const char *cosy_options_stats_file(void);

#endif /* COSY_OPTIONS_H */
