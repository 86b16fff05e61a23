// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline assembly whose operand has to be a constant, and is one only after the
// function with the region was inlined.
// RUN: %clang -O1 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all --only native,user %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -flto %s -o %t && %run-all --only native,user %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((always_inline)) static inline int plus(int to, int n)
{
	COSY_START;
	for (int i = 0; i < 3; i++)
		to += getpid() > 0;
	// CHECK: constant-operands.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: inline assembly whose operand is a constant only after inlining
	asm("addl %1, %0" : "+r"(to) : "n"(n) : "cc");
	for (int i = 0; i < 3; i++)
		to += getpid() > 0;
	COSY_END;
	return to;
}

int main(void)
{
	// OUT: 147
	printf("%d\n", plus(100, 41));
	return 0;
}
