// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_STATS tells compounds of one line apart: regions of one macro, and the compounds before and after
// code of one region that only its own function can run.
// RUN: %cosy-cc -O2 -g %s -o %t && rm -f %t.stats && COSY_STATS=%t.stats COSY_EXECUTOR=user %t
// RUN: sort %t.stats | FileCheck %s
#include <cosy.h>
#include <alloca.h>
#include <unistd.h>

#define REGION(calls)		\
	do {			\
		COSY_START;	\
		calls;		\
		COSY_END;	\
	} while (0)

#define TWO(sum)									\
	REGION(sum += getpid() + getppid());						\
	for (int i = 0; i < 2; i++)							\
		REGION(sum += getpid() + getppid() + getuid() + getgid() + geteuid())

static int regions(int n)
{
	int sum = 0;

	while (n--) {
		// CHECK-DAG: compounds-of-one-line-are-told-apart.c:[[#@LINE+2]]: executor=user runs=10 syscalls=20 entries=0{{$}}
		// CHECK-DAG: compounds-of-one-line-are-told-apart.c:[[#@LINE+1]]#2: executor=user runs=20 syscalls=100 entries=0{{$}}
		TWO(sum);
	}
	return sum;
}

#define PIECES(n)								\
	do {									\
		char *bytes;							\
		COSY_START;							\
		n = getpid() + getppid() + getuid();				\
		bytes = alloca(n & 15);						\
		*(volatile char *)bytes = 1;					\
		n += getpid() + getppid() + getuid() + getgid();		\
		COSY_END;							\
	} while (0)

static int pieces(int n)
{
	// CHECK-DAG: compounds-of-one-line-are-told-apart.c:[[#@LINE+2]]: executor=user runs=1 syscalls=3 entries=0{{$}}
	// CHECK-DAG: compounds-of-one-line-are-told-apart.c:[[#@LINE+1]]#2: executor=user runs=1 syscalls=4 entries=0{{$}}
	PIECES(n);
	return n;
}

int main(void)
{
	return !regions(10) || !pieces(0);
}
