// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of a shared library calls the function that native code calls: one of the program with the name of
// the library's function, unless native code has that inlined.
// RUN: for o in -O0 -O2; do \
// RUN:   %clang $o -w -DLIBRARY -fPIC -shared %s -o %t.so -L%lib -l:libcosy.a && \
// RUN:   %cc $o %s %t.so -o %t && \
// RUN:   for e in native user; do COSY_EXECUTOR=$e %t || exit 1; done || exit 1; \
// RUN: done
#ifdef LIBRARY

#include <cosy.h>
#include <unistd.h>

__attribute__((noinline)) int interposed(int x)
{
	return x + 1;
}

int work(int x)
{
	int result;

	COSY_START;
	getppid();
	result = interposed(x);
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

int main(void)
{
	return work(1) != 101;
}

#endif
