// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * wrappers.c - the wrappers that libcosy-preload.so interposes, under the functions' names.
 */
#include <stddef.h>

#define COSY_WRAPPER(function) \
	__attribute__((visibility("default"))) long function
#define COSY_NEXT(function, type)	((type)cosy_nexts[COSY_FN_##function])
#define COSY_IS_LINKED			false
#define COSY_LINKED(function)		NULL
/* A process without it, in glibc before 2.34, has not loaded libpthread, so it is never cancelled. */
void pthread_testcancel(void) __attribute__((weak));
#define COSY_TEST_CANCEL()		(pthread_testcancel ? pthread_testcancel() : (void)0)

#include "watched.h"
#include "wrapper.h"

#define COSY_PRELOAD_IF(function, ...)		COSY_WRAP(function, __VA_ARGS__)
#define COSY_PRELOAD_CANCEL(function, ...)	COSY_WRAP_CANCEL(function, __VA_ARGS__)
#include <preload.def>

long cosy_syscall(long nr, long a, long b, long c, long d, long e)
{
	struct cosy_call call;
	long result;

	if (may_enter(COSY_FN_syscall, COSY_IS_LINKED, COSY_LINKED(syscall))) {
		call.nr = (uint32_t)nr;
		call.status = 0;
		SET(call, a, b, c, d, e);
		if (likely(make(COSY_FN_syscall, &call, &result)))
			return likely(result >= 0) ? result : cosy_failed(result);
	}
	return COSY_NEXT(syscall, long (*)(long, ...))(nr, a, b, c, d, e);
}
