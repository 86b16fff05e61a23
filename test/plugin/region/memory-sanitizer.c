// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MemorySanitizer knows what a region initializes.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o -fsanitize=memory -Rpass-missed=cosy %s -o %t 2>&1 | FileCheck --check-prefix=REMARK %s && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t | FileCheck %s || exit 1; done || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

/* Its stores initialize memory, too. */
__attribute__((noinline, no_sanitize("memory"))) static void fill(int *results)
{
	// REMARK: remark: region stays native: MemorySanitizer
	COSY_START;
	for (int i = 0; i < 8; i++)
		results[i] = access("/", i & 1);
	COSY_END;
}

int main(int argc, char **argv)
{
	int results[8], others[8];

	// REMARK: remark: region stays native: MemorySanitizer
	COSY_START;
	for (int i = 0; i < 8; i++)
		results[i] = access("/", i & 1);
	COSY_END;
	// CHECK: {{^}}zero{{$}}
	if (results[argc] == 0)
		puts("zero");
	fill(others);
	// CHECK-NEXT: {{^}}also zero{{$}}
	if (others[argc] == 0)
		puts("also zero");
	return 0;
}
