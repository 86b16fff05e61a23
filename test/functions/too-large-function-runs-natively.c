// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A function with too many paths for the kernel's verifier runs natively. Detecting
 * that takes seconds, and happens only once.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK: too-large-function-runs-natively.c:[[#@LINE+17]]: function many runs natively: it is too large for the kernel's verifier
// CHECK-NOT: verifier
// CHECK: function many: executor=native upcalls=3
#include <cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Afterwards bits has a different number on each path, which the verifier knows. */
#define STEP(i)						\
	if (p[i] > 100) {				\
		bits ^= 0x9e3779b97f4a7c15 >> (i);	\
		q[i] = bits;				\
	}
#define STEPS(i)	STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3) STEP(i + 4) STEP(i + 5)

COSY_FUNCTION
static uint64_t many(volatile uint32_t *p, volatile uint64_t *q)
{
	uint64_t bits = 0;

	STEPS(0) STEPS(6) STEPS(12) STEPS(18)
	if (bits == 12345)
		q[3]++;
	if (bits == 123456)
		q[4]++;
	return bits;
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		struct cosy_segment *segment = cosy_segment_create(1 << 20);
		uint64_t *q, r;
		uint32_t *p;

		cosy_segment_use(segment);
		p = cosy_calloc(24, sizeof(*p));
		q = cosy_calloc(24, sizeof(*q));
		for (int j = 0; j < 24; j++)
			p[j] = j * 7 + i;
		COSY_START;
		getppid();
		r = many(p, q);
		COSY_END;
		printf("%llx %llx\n", (unsigned long long)r, (unsigned long long)q[23]);
		cosy_segment_destroy(segment);
	}
	return 0;
}
