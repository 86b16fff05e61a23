// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Local variables of a function have the alignment of their declarations, also if it is larger than the stack's.
// RUN: %cosy-cc -O2 -Wno-cosy %s -o %t
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>

struct block {
	int value;
	char rest[124];
};

static int find(const char *p)
{
	return ((struct block *)((uintptr_t)p & -sizeof(struct block)))->value;
}

COSY_FUNCTION
static int locals(int n, const volatile int *in)
{
	_Alignas(sizeof(struct block)) struct block block;
	int other[5];

	block.value = n;
	for (int i = 0; i < 5; i++)
		other[i] = in[i];
	return find(&block.rest[n & 63]) * 10 + other[n % 5];
}

int main(void)
{
	int *in = cosy_calloc(5, sizeof(*in));
	int sum = 0;

	in[2] = 3;
	/* The stacks of several calls differ in their alignment. */
	for (int i = 0; i < 4; i++) {
		COSY_START;
		for (int n = 0; n < 10; n++)
			sum += locals(n, in);
		COSY_END;
	}
	// CHECK: {{^}}1824{{$}}
	printf("%d\n", sum);
	fflush(stdout); // before the statistics
	return 0;
}

// CHECK: function locals: executor=kernel
