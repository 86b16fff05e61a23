// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * auto-wrapper.c - the wrapper cosy_auto_NAME() of one function of preload.def,
 * the one for which COSY_ONLY_NAME is defined as "0,".
 *
 * Each wrapper is an object of its own in libcosy.a. It refers to the function that it
 * replaces, and a program must not be linked with functions that it does not call.
 */
#define COSY_WRAPPER(function)	COSY_CALLED long cosy_auto_##function

/*
 * The wrapper calls the function through the procedure linkage table, like the program, and
 * uses the address of a call. The dynamic linker would look up a pointer to the function at
 * each start of the program.
 */
#define COSY_NEXT(function, type)	cosy_linked_##function
#define COSY_IS_LINKED			true
#define COSY_LINKED(function)						\
	({								\
		void *linked_;						\
									\
		__asm__("lea " #function "@PLT(%%rip), %0" : "=r"(linked_)); \
		linked_;						\
	})

#include "wrapper.h"

/* Only glibc's headers know the prototype. */
#define COSY_DECLARE(function, name, condition, params, ...) \
	extern long cosy_linked_##function params __asm__(#function)
#define COSY_AUTO(function, ...) \
	COSY_DECLARE(function, __VA_ARGS__); \
	COSY_WRAP(function, __VA_ARGS__)
#define COSY_AUTO_CANCEL(function, ...) \
	COSY_DECLARE(function, __VA_ARGS__); \
	COSY_WRAP_CANCEL(function, __VA_ARGS__)

#define COSY_SECOND(a, b, ...)	b
#define COSY_CHOOSE(...)	COSY_SECOND(__VA_ARGS__)
#define COSY_NOTHING(...)
#define COSY_IF_ONLY(function, wrap) \
	COSY_CHOOSE(COSY_ONLY_##function wrap, COSY_NOTHING, )

#define COSY_PRELOAD_IF(function, ...) \
	COSY_IF_ONLY(function, COSY_AUTO)(function, __VA_ARGS__)
#define COSY_PRELOAD_CANCEL(function, ...) \
	COSY_IF_ONLY(function, COSY_AUTO_CANCEL)(function, __VA_ARGS__)
#include <preload.def>
