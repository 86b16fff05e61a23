// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Undefined behaviour: at -O0 a region behaves like the machine code, at -O2 it
// compiles.
// RUN: %cosy-cc -O0 -w %s -o %t && %run-all %t | FileCheck %s
// RUN: %clang -O2 -w -c %s -o %t.o
#include <cosy.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int uninitialised(void)
{
	int x;

	return x;
}

static int went_on;

static int branch(int n)
{
	COSY_START;
	if (getpid() < 0)
		return 1;
	if (uninitialised())
		n = n * 2 / 2;
	while (n < 3) {
		went_on += getpid() > 0;
		n++;
		if (n == 100)
			return 2;
	}
	COSY_END;
	return n;
}

/* By the low bits of the amount, as in the processor; natively an output. */
static int shift(void)
{
	int amount = 40, x;

	COSY_START;
	x = 1 << amount;
	getpid();
	COSY_END;
	return x;
}

static long wrap(int n)
{
	long sum = 0;

	COSY_START;
	for (int i = n; i > 0; i++)
		sum += i - (getpid() < 0);
	COSY_END;
	return sum;
}

int main(void)
{
	// CHECK: 3 3
	printf("%d ", branch(0));
	printf("%d\n", went_on);
	// CHECK-NEXT: 6442450938
	printf("%ld\n", wrap(INT_MAX - 2));
	// CHECK-NEXT: 256
	printf("%d\n", shift());
	return 0;
}
