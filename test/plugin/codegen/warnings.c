// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions that work but do not gain.
// RUN: %clang -O0 -S -o /dev/null -Xclang -verify %s
// RUN: %clang -O2 -S -o /dev/null -Xclang -verify %s
// RUN: %not %clang -Werror -S -o /dev/null %s
#include <cosy.h>
#include <unistd.h>

int no_calls(int n)
{
	int sum = 0;
	COSY_START; // expected-warning {{region makes no system call}}
	for (int i = 0; i < n; i++)
		sum += i * n;
	COSY_END;
	return sum;
}

void endless(void)
{
	COSY_START; // expected-warning {{the end of this region is never reached; only a return, a jump or a signal leaves it; put COSY_END where every path through the region passes}}
	for (;;)
		getpid();
	COSY_END;
}

void native(void *p)
{
	COSY_START; // expected-warning {{region stays native: around a variable-length array or alloca, which only the function itself can execute, the code is too small for a compound; move that out of the region}}
	p = __builtin_alloca(getpid());
	COSY_END;
	*(char *)p = 0;
}
