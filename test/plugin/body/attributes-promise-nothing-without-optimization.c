// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At -O0 neither native code nor a region makes use of assumptions, and of what attributes promise of pointers.
// RUN: %cosy-cc -O0 -w %s -o %t && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Variadic, so that no compound contains them. */
__attribute__((returns_nonnull)) static void *none(int n, ...)
{
	return NULL;
}

__attribute__((nonnull)) static void take(void *p, ...)
{
}

__attribute__((assume_aligned(16))) static char *same(char *p, ...)
{
	return p;
}

int main(int argc, char **argv)
{
	static char bytes[16] __attribute__((aligned(16)));
	int null = 0, passed = 0, few = 0, odd = 0, also_odd = 0;
	char *null_or_bytes = argc > 5 ? bytes : NULL;

	COSY_START;
	getppid();
	if (!none(1))
		null = 1;
	take(null_or_bytes);
	if (!null_or_bytes)
		passed = 1;
	getppid();
	__builtin_assume(argc > 5);
	if (argc <= 5)
		few = 1;
	getppid();
	if ((uintptr_t)__builtin_assume_aligned(bytes + argc, 16) % 16)
		odd = 1;
	if ((uintptr_t)same(bytes + argc) % 16)
		also_odd = 1;
	getppid();
	COSY_END;
	// CHECK: {{^}}1 1 1 1 1{{$}}
	printf("%d %d %d %d %d\n", null, passed, few, odd, also_odd);
	return 0;
}
