// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the compiler knows a value is the same in a compound as in the native code: without
// optimisation it knows none, and in a function that the native code does not inline it does not
// know the arguments.
// RUN: %cosy-cc -O0 -w %s -o %t && %run-all %t | FileCheck --check-prefixes=CHECK,UNKNOWN %s
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all %t | FileCheck --check-prefixes=CHECK,KNOWN %s
// RUN: %cosy-cc -O0 -flto -w %s -o %t && %run-all %t | FileCheck --check-prefixes=CHECK,UNKNOWN %s
// RUN: %cosy-cc -O2 -flto -w %s -o %t && %run-all %t | FileCheck --check-prefixes=CHECK,KNOWN %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

static inline int ordinary(int x) { return __builtin_constant_p(x); }
static inline __attribute__((always_inline)) int always(int x) { return __builtin_constant_p(x + 1); }
__attribute__((noinline)) int never(int x) { return __builtin_constant_p(x); }
__attribute__((optnone, noinline)) static int plain(int x) { return __builtin_constant_p(x); }
int (*volatile pointer)(int) = ordinary, (*volatile other)(int) = never;

int main(void)
{
	int literal, constant, by_name, inlined, by_pointer, not_inlined, not_optimised;

	COSY_START;
	getppid();
	int local = 1;
	literal = __builtin_constant_p(1);
	constant = __builtin_constant_p(local);
	by_name = ordinary(1);
	inlined = always(1);
	by_pointer = pointer(1);
	not_inlined = never(1);
	not_optimised = plain(1);
	getppid();
	COSY_END;
	// CHECK: literal 1, pointer 0, not inlined 0, not optimised 0
	printf("literal %d, pointer %d, not inlined %d, not optimised %d\n", literal, by_pointer,
	       not_inlined, not_optimised);
	// UNKNOWN: local 0, by name 0, inlined 0
	// KNOWN: local 1, by name 1, inlined 1
	printf("local %d, by name %d, inlined %d\n", constant, by_name, inlined);
}
