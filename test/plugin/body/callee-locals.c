// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large local variables of the functions that a region calls do not accumulate in the
// frame of the region's function: natively they use the same stack one after the other.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -Rpass-missed=cosy -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define STACK (512 << 10)
#define SIXTEEN(CALL) CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL

/* Reads the data that it has written, so that the buffer is not removed. */
static int use(volatile char *buf, int size, int n)
{
	buf[n] = n;
	buf[size - 1 - n] = 1 + (getpid() < 0);
	return buf[n] + buf[size - 1 - n];
}

static int inner(int n)
{
	char buf[24 << 10];

	return use(buf, sizeof(buf), n);
}

static int outer(int n)
{
	char buf[24 << 10];

	buf[n] = 5;
	n = inner(n) + inner(n + 1);
	return use(buf, sizeof(buf), n);
}

/* All calls are inlined, 16 times four, and there is one more. */
static int same(int n)
{
	int sum = getppid() < 0;

	// CHECK-NOT: up-call
	// CHECK: callee-locals.c:[[#@LINE+1]]:{{.*}}region became a compound: {{.*}}65 system calls
	COSY_START;
	SIXTEEN(sum += outer(n); sum += inner(n);)
	sum += getpid() < 0;
	COSY_END;
	return sum;
}

#define FUNCTION(N) \
	static int f##N(int n) \
	{ \
		char buf[(40 << 10) + N]; \
	\
		return use(buf, sizeof(buf), n + N); \
	}

FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)

/* The first is inlined. There is no room for the others, and they stay calls. */
static int different(int n)
{
	int sum;

	// CHECK: callee-locals.c:[[#@LINE+1]]:{{.*}}region became a compound: {{.*}}7 system calls{{.*}}6 up-calls
	COSY_START;
	sum = getpid() < 0;
	sum += f1(n);
	sum += f2(n) + (getpid() < 0);
	sum += f3(n) + (getpid() < 0);
	sum += f4(n) + (getpid() < 0);
	sum += f5(n) + (getpid() < 0);
	sum += f6(n) + (getpid() < 0);
	sum += f7(n);
	COSY_END;
	return sum;
}

static void *run(void *arg)
{
	printf("%d\n", same(3));
	printf("%d\n", different(4));
	return arg;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&thread, &attr, run, NULL))
		return 1;
	pthread_join(thread, NULL);
	// OUT: {{^}}224{{$}}
	// OUT-NEXT: {{^}}63{{$}}
	return 0;
}
