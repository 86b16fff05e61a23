// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library that ThinLTO links: a region calls the function of another file that native code
// calls, which is the program's, though its definition is copied into the region's module.
// RUN: for o in -O1 -O2; do \
// RUN:   for file in REGION FUNCTION; do \
// RUN:     %cosy-cc $o -w -flto=thin -fPIC -D$file -c %s -o %t.$file.o || exit 1; \
// RUN:   done && \
// RUN:   %cosy-cc $o -flto=thin -fPIC -shared %t.REGION.o %t.FUNCTION.o -o %t.so && \
// RUN:   %cc $o %s %t.so -o %t && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done || exit 1; \
// RUN: done
#include <unistd.h>

#if defined(REGION)

#include <cosy.h>

int interposed(int x, int *table);

int work(int n)
{
	int sum = 0, table[4] = { 1, 2, 3, 4 };

	COSY_START;
	for (int i = 0; i < n; i++) {
		close(-1);
		sum += interposed(i, table);
		close(-1);
	}
	COSY_END;
	return sum;
}

#elif defined(FUNCTION)

#define STEP(N) (x = x * N + table[(x >> N) & 3])

// Large enough to be a call in native code, and small enough to be copied.
int interposed(int x, int *table)
{
	STEP(3), STEP(5), STEP(7), STEP(9), STEP(11), STEP(13), STEP(15), STEP(17);
	table[x & 3] += close(-1);
	table[(x + 1) & 3] ^= x + close(-1);
	return x;
}

#else

int work(int n);

int interposed(int x, int *table)
{
	return 1;
}

int main(void)
{
	return work(5) != 5;
}

#endif
