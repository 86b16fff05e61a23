// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * watched.c - the function that the stubs of watched.def and libc.def call.
 */
#include <asm/unistd.h>

#include "next.h"
#include "state.h"
#include "watched.h"

/* The calls of cosy_before_NOTICE(). */
#define BEFORE_fork	cosy_before_fork()
#define BEFORE_limit	cosy_before_limit()
#define BEFORE_prctl	cosy_before_prctl(arg0)
#define BEFORE_syscall	cosy_before_syscall(arg0, arg1)

void *cosy_before(enum cosy_function function, long arg0, long arg1)
{
	void *next = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);

	switch (function) {
#define COSY_WATCHED(function, notice)	\
	case COSY_FN_##function:	\
		BEFORE_##notice;	\
		break;
#include "watched.def"
#define COSY_LIBC(function) case COSY_FN_##function:
#include "libc.def"
		if (cosy_counts_libc)
			cosy_before_libc();
		break;
	default:
		break;
	}
	if (function == COSY_FN_popen || function == COSY_FN_system)
		cosy_before_shell();
	if (function == COSY_FN_prctl)
		cosy_before_capabilities(arg0);
	if (function == COSY_FN_syscall && arg0 == __NR_prctl)
		cosy_before_capabilities(arg1);
	return next ? next : cosy_resolve(function);
}
