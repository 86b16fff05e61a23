// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * watched.c - the function that the stubs of watched.def call.
 */
#include "next.h"
#include "state.h"
#include "watched.h"

void *cosy_before(enum cosy_function function, long arg0, long arg1)
{
	void *next = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);

	switch (function) {
	case COSY_FN_syscall:
		cosy_before_syscall(arg0, arg1);
		break;
	case COSY_FN_prctl:
		cosy_before_prctl(arg0);
		break;
	case COSY_FN_setrlimit:
	case COSY_FN_setrlimit64:
	case COSY_FN_prlimit:
	case COSY_FN_prlimit64:
		cosy_before_limit();
		break;
	default:
		cosy_before_fork();
		break;
	}
	return next ? next : cosy_resolve(function);
}
