// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exits of a region: its end, return, goto, break and continue of an outer
// loop. Code that does not reach the end stays native.
// RUN: %clang -O0 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// CHECK-LABEL: .compound "leave"
// CHECK: .exits 3
// CHECK: .upcalls 0
static int leave(int n, int *count)
{
	int r = 0;

	COSY_START;
	r = getpid() > 0;
	if (n == 1)
		return 10 + r;
	if (n == 2)
		goto out;
	r += 100;
	COSY_END;
	*count += 1;
	return r;
out:
	printf("out ");
	return 20 + r;
}

// CHECK-LABEL: .compound "outer"
// CHECK: .exits 3
static int outer(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		COSY_START;
		if (getpid() < 0 || i == 3)
			continue;
		if (i == 6)
			break;
		sum += i;
		COSY_END;
		sum += 1000;
	}
	return sum;
}

// Two regions in a function; the second one uses values of the first one.
// CHECK-LABEL: .compound "both"
// CHECK-LABEL: .compound "both"
static int both(int n)
{
	int a, b;

	COSY_START;
	a = getpid() > 0 ? n * 2 : 0;
	b = a + 1;
	COSY_END;
	COSY_START;
	if (getppid() >= 0)
		b = b * a + n;
	COSY_END;
	return a + b;
}

int main(void)
{
	int count = 0;

	for (int n = 0; n < 3; n++)
		// OUT: 101
		// OUT-NEXT: 11
		// OUT-NEXT: out 21
		printf("%d\n", leave(n, &count));
	// OUT-NEXT: 1 5012
	printf("%d %d\n", count, outer(9));
	// OUT-NEXT: 125
	printf("%d\n", both(5));
	return 0;
}
