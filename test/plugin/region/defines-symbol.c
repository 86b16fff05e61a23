// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline assembly that defines a symbol exists once in the program: in a region, in a function that
// a region calls, and in a COSY_ASYNC function.
// RUN: %clang -O0 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: for level in -O0 -O1 '-O0 -g -fsanitize=undefined'; do \
// RUN:   %cosy-cc $level %s -o %t -pthread && \
// RUN:   %run-all --only native,user %t | FileCheck --check-prefix=OUT %s || exit 1; done
#include <cosy.h>
#include <cosy/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char in_region[], in_callee[], in_coroutine[];

__attribute__((noinline)) static int callee(int n)
{
	asm volatile("in_callee: incl %0" : "+r"(n) : : "cc");
	return n;
}

__attribute__((noinline)) static int region(int n)
{
	COSY_START;
	for (int i = 0; i < 3; i++)
		n += getpid() > 0;
	// CHECK-DAG: defines-symbol.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: inline assembly that defines a symbol
	asm volatile("nop; in_region: incl %0" : "+r"(n) : : "cc");
	// CHECK-DAG: defines-symbol.c:[[#@LINE+1]]:{{.*}}remark: leaves the kernel for an up-call: inline assembly
	asm volatile("jmp unique%=; unique%=: 1: incl %0" : "+r"(n) : : "cc");
	for (int i = 0; i < 3; i++)
		n += getpid() > 0;
	n = callee(n);
	COSY_END;
	return n;
}

COSY_ASYNC static int coroutine(int n)
{
	close(-1);
	asm volatile("in_coroutine: incl %0" : "+r"(n) : : "cc");
	close(-1);
	return n;
}

int main(void)
{
	struct cosy_loop *loop;
	struct cosy_async op = { 0 };

	if (cosy_loop_create(&loop, NULL) || COSY_SPAWN(loop, coroutine(10), .op = &op) ||
	    cosy_wait_for(loop, &op, NULL))
		exit(2);
	// OUT: 109 11 1
	printf("%d %d %d\n", region(100), (int)op.result, in_region && in_callee && in_coroutine);
	return 0;
}
