// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that asks for its return address, or for the frame of its caller, sees the code that
// calls it. So the host itself calls it, and what calls it is not inlined into a compound.
// RUN: %clang -O0 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -Rpass-missed=cosy %s 2>&1 | FileCheck --check-prefixes=CHECK,INLINED %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -flto %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// Without the assembly, clang moves the calls.
__attribute__((noinline)) static void *caller(void)
{
	__asm__ volatile("" : : : "memory");
	return __builtin_return_address(0);
}

__attribute__((noinline)) static void *callers_frame(void)
{
	__asm__ volatile("" : : : "memory");
	return __builtin_frame_address(1);
}

// All calls return the same, because the function is not inlined.
__attribute__((noinline)) static void *after_call(void)
{
	volatile int none = 0;

	return (char *)caller() + none;
}

// The function sees only its own frame, which is not that of the region.
__attribute__((noinline)) static int is_below(void *frame)
{
	return (char *)__builtin_frame_address(0) < (char *)frame;
}

__attribute__((noinline)) static int in_callee(void)
{
	int n = 0;
	void *first;

	COSY_START;
	n += getpid() > 0;
	n += getpid() > 0;
	// CHECK: callers.c:[[#@LINE+1]]:{{.*}}remark: leaves the kernel for an up-call: call of after_call
	first = after_call();
	n += 10 * (first == after_call());
	n += 100 * is_below(&first);
	COSY_END;
	return n;
}

// The second call runs the native code.
__attribute__((noinline)) static void *in_region(int native)
{
	void *at;

	if (native)
		goto inside;
	COSY_START;
	for (int i = 0; i < 4; i++)
		getpid();
inside:
	// CHECK: callers.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a call of a function that sees the address of its caller
	at = caller();
	for (int i = 0; i < 4; i++)
		getpid();
	COSY_END;
	return at;
}

__attribute__((noinline)) static int frames(void)
{
	void *frame;

	COSY_START;
	for (int i = 0; i < 4; i++)
		getpid();
	// CHECK: callers.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a call of a function that sees the address of its caller
	frame = callers_frame();
	for (int i = 0; i < 4; i++)
		getpid();
	COSY_END;
	return frame == __builtin_frame_address(0);
}

// Native code may inline this function, which then returns the frame of the host.
static inline void *own_frame(void)
{
	return callers_frame();
}

__attribute__((noinline)) static void *inlined_frame(void)
{
	void *frame;

	COSY_START;
	for (int i = 0; i < 4; i++)
		getpid();
	// INLINED: callers.c:[[#@LINE+1]]:{{.*}}remark: leaves the compound for native code: a call of a function that sees the address of its caller
	frame = own_frame();
	for (int i = 0; i < 4; i++)
		getpid();
	COSY_END;
	return frame;
}

int main(void)
{
	// OUT: 112
	printf("%d\n", in_callee());
	// OUT-NEXT: 1
	printf("%d\n", in_region(0) == in_region(1));
	// OUT-NEXT: 1
	printf("%d\n", frames());
	// OUT-NEXT: 1
	printf("%d\n", inlined_frame() != NULL);
	return 0;
}
