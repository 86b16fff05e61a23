// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region calls a function that has room for other code, which the program puts there.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline, patchable_function_entry(16))) static int function(int x)
{
	close(-1);
	return x + 1;
}

int main(void)
{
	static const unsigned char code[] = { 0xb8, 99, 0, 0, 0, 0xc3 }; // mov $99, %eax; ret
	char *page = (char *)((unsigned long)function & ~4095UL);
	int sum = 0;

	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	memcpy((void *)function, code, sizeof(code));
	COSY_START;
	for (int i = 0; i < 3; i++) {
		close(-1);
		sum += function(i);
		close(-1);
	}
	COSY_END;
	// CHECK: {{^}}297{{$}}
	printf("%d\n", sum);
	return 0;
}
