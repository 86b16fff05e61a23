// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel accepts the exchanges on its stack that are the fences of functions, also in loops.
// RUN: %cosy-cc -O0 -Wno-cosy %s -o %t && %t | FileCheck %s
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck --check-prefixes=CHECK,STATS %s
// RUN: %cosy-cc -O2 -Wno-cosy %s -o %t && %t | FileCheck %s
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck --check-prefixes=CHECK,STATS %s
#include <cosy.h>
#include <stdio.h>

COSY_FUNCTION
static int ordered(unsigned char *byte, unsigned short *half, void **pointer, int n)
{
	int r = 0;

	for (int i = 0; i < n; i++) {
		__atomic_store_n(byte, i, __ATOMIC_SEQ_CST);
		__atomic_store_n(half, *byte * 3, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(pointer, half, __ATOMIC_SEQ_CST);
		r += *half + (*pointer == half);
	}
	return r;
}

int main(void)
{
	unsigned char *byte = cosy_malloc(sizeof(*byte));
	unsigned short *half = cosy_malloc(sizeof(*half));
	void **pointer = cosy_malloc(sizeof(*pointer));
	int r;

	for (int i = 0; i < 3; i++) {
		COSY_START;
		r = ordered(byte, half, pointer, 100000);
		COSY_END;
		// CHECK-COUNT-3: {{^}}38326960{{$}}
		printf("%d\n", r);
	}
	fflush(stdout); // before the statistics
	return 0;
}

// STATS: function ordered: executor=kernel upcalls=1{{$}}
