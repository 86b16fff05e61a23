// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several regions in a function, and jumps out of one to before, between and after others.
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>
static int f(int n)
{
	int r = 0, i;

	for (i = 0; i < 4; i++) {
		COSY_START;
		r += getpid() > 0;
		if (r == n)
			continue;
		if (r == n + 2)
			goto out;
		if (r == n + 6)
			break;
		r++;
		COSY_END;
		printf("between %d %d\n", i, r);
		COSY_START;
		r += getpid() > 0;
		if (r == n + 1)
			continue;
		if (r == 11)
			goto behind;
		COSY_END;
		printf("end %d %d\n", i, r);
	}
out:
	printf("out %d %d\n", i, r);
	COSY_START;
	r += getppid() > 0;
	COSY_END;
behind:
	return r;
}

int main(void)
{
	// CHECK: f(0) = 13
	// CHECK: f(1) = 11
	// CHECK: f(2) = 5
	// CHECK: f(3) = 13
	// CHECK: f(4) = 11
	// CHECK: f(5) = 8
	// CHECK: f(6) = 13
	// CHECK: f(7) = 11
	// CHECK: f(8) = 11
	// CHECK: f(9) = 13
	// CHECK: f(10) = 11
	// CHECK: f(11) = 13
	for (int n = 0; n < 12; n++)
		printf("f(%d) = %d\n", n, f(n));
	return 0;
}
