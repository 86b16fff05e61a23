// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region calls a function with a region through a pointer only, and that region was compiled before
// this one. The function is inlined as it was written: there is no up-call.
// RUN: for flags in -O0 -O2 '-O2 -flto' '-O2 -flto=thin'; do \
// RUN:   %cosy-cc $flags -Wno-cosy-up-call-in-loop %s -o %t && \
// RUN:   env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | %FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

long count(long n)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < n; i++)
		sum += getppid() > 0;
	COSY_END;
	return sum;
}

static long same(long n)
{
	return n;
}

static long (*called)(long) = count;

int main(int argc, char **argv)
{
	long sum = 0;

	if (argc > 1)
		called = same;
	COSY_START;
	for (int i = 0; i < 9; i++) {
		sum += getppid() > 0;
		sum += called(i);
	}
	COSY_END;
	// CHECK-DAG: sum 45
	// CHECK-DAG: executor=user runs=1 syscalls=45 entries=0{{$}}
	printf("sum %ld\n", sum);
	return 0;
}
