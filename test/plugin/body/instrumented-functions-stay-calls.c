// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that -finstrument-functions adds are made for each function that a region calls.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o -finstrument-functions %s -o %t && \
// RUN:   %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static int entered, left;

PLAIN void __cyg_profile_func_enter(void *function, void *caller)
{
	entered++;
}

PLAIN void __cyg_profile_func_exit(void *function, void *caller)
{
	left++;
}

static int callee(int x)
{
	return x + (getpid() > 0);
}

static int work(void)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 3; i++)
		sum += callee(i);
	for (int i = 0; i < 3; i++)
		sum += getppid() < 0;
	COSY_END;
	return sum;
}

PLAIN int main(void)
{
	int sum = work();

	// CHECK: {{^}}6 4 4{{$}}
	printf("%d %d %d\n", sum, entered, left);
	return 0;
}
