// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --coverage counts lines, with -g and without. The compound increments the counters to the same
// numbers as natively; a file without a region is counted as by clang alone.
// RUN: for options in -O0 '-O2 -g' '-O1 -flto'; do for executor in native user; do \
// RUN:   rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cosy-cc $options --coverage -c %s -o main.o && \
// RUN:   %cosy-cc $options --coverage -c -DNO_REGION %s -o other.o && \
// RUN:   %cosy-cc $options --coverage main.o other.o -o main && \
// RUN:   COSY_EXECUTOR=$executor COSY_STATS=1 ./main 2>stats && \
// RUN:   { [ $executor = native ] || FileCheck --check-prefix=RAN %s <stats; } && \
// RUN:   llvm-cov gcov main.gcda && FileCheck %s <coverage.c.gcov && \
// RUN:   llvm-cov gcov other.gcda && FileCheck --check-prefix=OTHER %s <coverage.c.gcov || exit 1; \
// RUN: done; done
// RAN: executor=user runs=1
#include <cosy.h>
#include <unistd.h>

#ifdef NO_REGION
int other(int n)
{
	int i = 0;

	while (i < n)
		i++; // OTHER: {{^ +7: .*i\+\+;}}
	return i;
}
#else
int other(int n);

int main(void)
{
	int odd = 0;

	COSY_START;
	for (int i = 0; i < 25; i++)
		if (getppid() >= 0 && i & 1)
			odd += getpid() > 0; // CHECK: {{^ +12: .*odd \+=}}
	COSY_END;
	return odd != 12 || other(7) != 7; // CHECK: {{^ +1: .*return}}
}
#endif
