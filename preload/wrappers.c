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

#include "wrapper.h"

#define COSY_PRELOAD_IF(function, ...)		COSY_WRAP(function, __VA_ARGS__)
#define COSY_PRELOAD_CANCEL(function, ...)	COSY_WRAP_CANCEL(function, __VA_ARGS__)
#include <preload.def>
