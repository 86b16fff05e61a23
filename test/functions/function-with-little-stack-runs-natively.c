// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A function with too little stack is detected before it has any effect, and runs
 * natively. libcosy gives each function the stack size of the compiler's table, so the test
 * changes that table.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_DEBUG=1 COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
#include <cosy.h>
#include <cosy/region.h>
#include <stdio.h>
#include <unistd.h>

// CHECK-COUNT-2: function-with-little-stack-runs-natively.c:[[#@LINE+3]]: function turn: stack overflow{{$}}
// CHECK-NOT: stack overflow
COSY_FUNCTION
static int turn(int *p, int n)
{
	int local[16];

	for (int i = 0; i < 16; i++)
		local[i] = p[i % 4] + i;
	for (int i = 0; i < n; i++)
		local[(local[i % 16] + i) & 15] ^= i;
	*p = local[n % 16];
	return local[3];
}

/* The compiler's table of functions. */
extern struct cosy_function __start_cosy_functions[];

/* Before the table is passed to libcosy. */
__attribute__((constructor(1000))) static void lie(void)
{
	__start_cosy_functions[0].stack = 48;
}

int main(void)
{
	int *p = cosy_calloc(4, sizeof(*p));
	int r;

	for (int i = 0; i < 2; i++) {
		COSY_START;
		getppid();
		r = turn(p, 20 + i);
		COSY_END;
		printf("%d %d\n", r, *p);
	}
	return 0;
}
