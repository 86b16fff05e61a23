// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In an up-call a debugger shows the region's function at the source line.
// RUN: %cosy-cc -O0 -g -no-pie -fno-pie %s -o %t && %t | FileCheck --check-prefix=OUT %s
// RUN: COSY_EXECUTOR=user %t > %t.address
// RUN: addr2line -i -f -s -e %t $(cat %t.address) | FileCheck %s
// RUN: %cosy-cc -O2 -g -no-pie -fno-pie %s -o %t
// RUN: COSY_EXECUTOR=user %t > %t.address
// RUN: addr2line -i -f -s -e %t $(cat %t.address) | FileCheck %s
//
// The same if locations exist only for messages.
// RUN: %clang -O2 -c -fverify-intermediate-code %s -o %t.o
// RUN: %clang -O2 -c -g -fverify-intermediate-code %s -o %t.o
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// OUT: {{^}}0x
__attribute__((used)) static void print(char *after_call)
{
	printf("%p\n", after_call - 1);
}

// The compiler does not know that this function uses its return address. Otherwise the region
// would call it without an up-call.
__attribute__((naked, noinline)) void where(void)
{
	__asm__("movq (%rsp), %rdi\n\tjmp print");
}

static int helper(int n)
{
	// CHECK: {{^}}helper{{$}}
	// CHECK-NEXT: up-call-lines.c:[[#@LINE+1]]
	where();
	return n + 1;
}

int main(void)
{
	int n = getppid();

	COSY_START;
	n += getpid();
	// CHECK-NEXT: {{^}}main{{$}}
	// CHECK-NEXT: up-call-lines.c:[[#@LINE+1]]
	n = helper(n);
	COSY_END;
	// CHECK-NEXT: {{^}}main.cosy.0.upcall.0{{$}}
	// CHECK-NEXT: up-call-lines.c
	return n < 0;
}
