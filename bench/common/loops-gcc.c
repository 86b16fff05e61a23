// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * loops-gcc.c - loops.h as ordinary functions, for gcc.
 */
#define LOOP(name, ...)	uint64_t gcc_##name(__VA_ARGS__)
#include "loops.h"
