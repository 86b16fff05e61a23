// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of a shared library that is too large to be inlined natively, and an inline function of C99, may have
// another definition in the program. A region calls the same as native code.
// RUN: for o in -O0 -O2; do \
// RUN:   %clang $o -w -DLIBRARY -fPIC -shared %s -o %t.so -L%lib -l:libcosy.a && \
// RUN:   %cc $o %s %t.so -o %t && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done || exit 1; \
// RUN: done
#ifdef LIBRARY

#include <cosy.h>
#include <unistd.h>

#define STEP(N) \
	x = x * N + table[(x >> N) & 7]; \
	if (x & N) \
		table[x & 7] ^= x + N; \
	else \
		table[(x + N) & 7] += N;
#define STEPS STEP(3) STEP(5) STEP(7) STEP(9) STEP(11) STEP(13) STEP(15) STEP(17)

int table[8];

int interposed(int x)
{
	STEPS STEPS STEPS return x;
}

inline int external(int x)
{
	STEPS STEPS STEPS return x;
}

int work(int x)
{
	int result;

	COSY_START;
	getppid();
	result = interposed(x) + external(x);
	getppid();
	COSY_END;
	return result;
}

#else

int work(int x);

int interposed(int x)
{
	return x + 100;
}

int external(int x)
{
	return x + 1000;
}

int main(void)
{
	return work(1) != 1102;
}

#endif
