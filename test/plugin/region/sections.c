// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline assembly that adds to another section exists once in the program.
// RUN: for o in -O0 -O2; do %cosy-cc $o %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; done
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

static int object;
extern int *__start_objects[], *__stop_objects[];

static int work(void)
{
	int sum = 0;

	COSY_START;
	sum += getppid() >= 0;
	sum += getppid() >= 0;
	asm volatile(".pushsection objects,\"aw\"\n.quad %c0\n.popsection" : : "i"(&object));
	sum += getpid() > 0;
	sum += getpid() > 0;
	COSY_END;
	return sum;
}

int main(void)
{
	int sum = work();

	// CHECK: {{^}}4 1{{$}}
	printf("%d %d\n", sum, (int)(__stop_objects - __start_objects));
	return 0;
}
