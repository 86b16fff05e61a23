// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * COSY_FUNCTIONS=kernel reports why a function runs natively: its argument is not from
 * cosy_malloc(). The message is printed once, and only on request.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_EXECUTOR=kernel %t 2>%t.err > %t.out
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// RUN: %vm env COSY_EXECUTOR=kernel %t 2>&1 | diff %t.native -
// CHECK: {{^}}cosy: {{.*}}function-of-foreign-memory-runs-natively.c:[[#@LINE+7]]: function add runs natively: argument 2 is not from cosy_malloc(){{$}}
// CHECK-NOT: cosy:
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

COSY_FUNCTION
static long add(long n, const long *values)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

int main(void)
{
	long values[4] = { 1, 2, 3, 4 };
	long total = 0;

	for (int i = 0; i < 100; i++) {
		COSY_START;
		getppid();
		total += add(4, values);
		COSY_END;
	}
	printf("%ld\n", total);
	return 0;
}
