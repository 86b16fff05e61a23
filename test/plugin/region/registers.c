// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stack pointer and the canonical frame address in a region are those of its function.
// RUN: for o in -O0 -O2; do %cosy-cc $o -w %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; done
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

register uintptr_t stack __asm__("rsp");

int main(void)
{
	uintptr_t in, cfa;

	COSY_START;
	getpid();
	getpid();
	in = stack;
	getppid();
	getppid();
	cfa = (uintptr_t)__builtin_dwarf_cfa();
	getpid();
	getpid();
	COSY_END;
	// CHECK: {{^}}1 1{{$}}
	printf("%d %d\n", in == stack, cfa == (uintptr_t)__builtin_dwarf_cfa());
	return 0;
}
