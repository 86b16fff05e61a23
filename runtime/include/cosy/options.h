/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/options.h - the options of a region; cosy.h includes it.
 *
 * They are the arguments of COSY_START_WITH(), in any order. To the plugin an
 * option is one or two 64-bit constants: an enum cosy_option, and its value
 * where it has one.
 */
#ifndef COSY_REGION_OPTIONS_H
#define COSY_REGION_OPTIONS_H

/* The program's warning options apply to its own code, not to this header. */
#pragma GCC system_header

#include <stdint.h>

/**
 * enum cosy_option - the options; values are part of the plugin's interface
 *
 * They differ from those of enum cosy_policy, so that the plugin rejects a policy that is
 * written without COSY_AT_LIMIT().
 */
enum cosy_option {
	COSY_OPTION_END = 16,	/* after the last one */
	COSY_OPTION_STOP_ON_ERROR,
	COSY_OPTION_MAX_OPERATIONS,	/* value: their number */
	COSY_OPTION_MAX_MS,		/* value: milliseconds */
	COSY_OPTION_AT_LIMIT,		/* value: enum cosy_policy */
};

/** enum cosy_policy - what happens when a region has reached a limit */
enum cosy_policy {
	COSY_RESUME,	/* it leaves the kernel for a moment and goes on */
	COSY_STOP,	/* it ends with errno ETIME, see cosy_last_error() */
	COSY_KILL,	/* the process is killed by SIGKILL */
};

/** COSY_STOP_ON_ERROR - leave the region when one of its system calls fails */
#define COSY_STOP_ON_ERROR (uint64_t)COSY_OPTION_STOP_ON_ERROR

/** COSY_MAX_OPERATIONS() - limit the operations of one run of the region, 1 to 2^56 */
#define COSY_MAX_OPERATIONS(n) \
	(uint64_t)COSY_OPTION_MAX_OPERATIONS, (uint64_t)(n)

/** COSY_MAX_MS() - limit the CPU time of one run, in milliseconds, 1 to 2^32-1 */
#define COSY_MAX_MS(n) (uint64_t)COSY_OPTION_MAX_MS, (uint64_t)(n)

/** COSY_AT_LIMIT() - what to do then: COSY_RESUME (default), COSY_STOP, COSY_KILL */
#define COSY_AT_LIMIT(policy) (uint64_t)COSY_OPTION_AT_LIMIT, (uint64_t)(policy)

#endif /* COSY_REGION_OPTIONS_H */
