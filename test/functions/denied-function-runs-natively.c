// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * COSY_FUNCTIONS=kernel reports why a function runs natively: the process may not load
 * it. The message is printed only on request.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel setpriv --inh-caps=-all --bounding-set=-all %t 2>%t.err >%t.out
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// RUN: %vm setpriv --inh-caps=-all --bounding-set=-all %t 2>&1 | diff %t.native -
// CHECK: {{^}}cosy: {{.*}}denied-function-runs-natively.c:[[#@LINE+7]]: function sum runs natively: loading it requires CAP_BPF and CAP_PERFMON, and in a user namespace also a token{{$}}
// CHECK-NOT: cosy:
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

COSY_FUNCTION
static long sum(long n, const long *values)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

int main(void)
{
	long *values = cosy_calloc(4, sizeof(*values));
	long total = 0;

	for (int i = 0; i < 100; i++) {
		COSY_START;
		getppid();
		values[i % 4] += i;
		total += sum(4, values);
		COSY_END;
	}
	printf("%ld\n", total);
	return 0;
}
