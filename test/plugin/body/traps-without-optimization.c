// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At -O0 a region does what the machine code does, although the C standard does not define it: it traps, faults,
// converts and rounds.
// RUN: %cosy-cc -O0 -w %s -o %t -lm && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <fenv.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf env;

static void jump(int signal)
{
	siglongjmp(env, signal);
}

/* Prints the result of the region, or the signal that ended it. */
#define RUN(TYPE, FORMAT, NAME, VARIABLES, CODE) \
	static void NAME(void) \
	{ \
		TYPE result = 5; \
		VARIABLES \
		int signal = sigsetjmp(env, 1); \
\
		if (signal) { \
			printf(#NAME " signal %d\n", signal); \
			return; \
		} \
		COSY_START; \
		getpid(); \
		CODE; \
		getppid(); \
		COSY_END; \
		printf(#NAME " " FORMAT "\n", result); \
	}

/* The same with the variables in the function that the region calls. */
#define BOTH(TYPE, FORMAT, NAME, VARIABLES, CODE) \
	RUN(TYPE, FORMAT, NAME, VARIABLES, CODE) \
	static TYPE NAME##_callee(void) \
	{ \
		TYPE result = 5; \
		VARIABLES \
\
		CODE; \
		return result; \
	} \
	RUN(TYPE, FORMAT, NAME##_in_callee, , result = NAME##_callee())

static const int constant = 1;
static volatile int done;

static void stop(int signal)
{
	done = 1;
}

// CHECK: {{^}}zero signal 8{{$}}
// CHECK-NEXT: {{^}}zero_in_callee signal 8{{$}}
BOTH(int, "%d", zero, int x = 3; int zero = 0;, result = x / zero)
// CHECK-NEXT: {{^}}overflow signal 8{{$}}
// CHECK-NEXT: {{^}}overflow_in_callee signal 8{{$}}
BOTH(int, "%d", overflow, int x = INT_MIN; int minus = -1;, result = x % minus)
// CHECK-NEXT: {{^}}unused signal 8{{$}}
// CHECK-NEXT: {{^}}unused_in_callee signal 8{{$}}
BOTH(int, "%d", unused, int x = 3; int zero = 0; int y;, y = x / zero)
// CHECK-NEXT: {{^}}variable signal 8{{$}}
// CHECK-NEXT: {{^}}variable_in_callee signal 8{{$}}
BOTH(int, "%d", variable, int x = 3; int zero = getpid() < 0; int y;, y = x / zero)
// CHECK-NEXT: {{^}}store signal 11{{$}}
// CHECK-NEXT: {{^}}store_in_callee signal 11{{$}}
BOTH(int, "%d", store, , *(int *)&constant = 2)
// CHECK-NEXT: {{^}}load signal 11{{$}}
// CHECK-NEXT: {{^}}load_in_callee signal 11{{$}}
BOTH(int, "%d", load, int *null = NULL; int x;, x = *null)
// CHECK-NEXT: {{^}}convert -2147483648{{$}}
// CHECK-NEXT: {{^}}convert_in_callee -2147483648{{$}}
BOTH(int, "%d", convert, double large = 1e20;, result = (int)large)
// CHECK-NEXT: {{^}}unsigned_convert 4294967295{{$}}
// CHECK-NEXT: {{^}}unsigned_convert_in_callee 4294967295{{$}}
BOTH(unsigned, "%u", unsigned_convert, double minus = -1;, result = (unsigned)minus)
// CHECK-NEXT: {{^}}upwards 0x1.5555555555556p-2{{$}}
// CHECK-NEXT: {{^}}upwards_in_callee 0x1.5555555555556p-2{{$}}
BOTH(double, "%a", upwards, double a = 1; double b = 3;, fesetround(FE_UPWARD); result = a / b; fesetround(FE_TONEAREST))

/* Not volatile here. */
static int wait(void)
{
	int n = 0;

	while (!*(int *)&done)
		n |= 1;
	return n;
}

// CHECK-NEXT: {{^}}wait_for_a_signal 1{{$}}
RUN(int, "%d", wait_for_a_signal, , result = wait())

int main(void)
{
	struct itimerval soon = { .it_value.tv_usec = 100000 };

	signal(SIGFPE, jump);
	signal(SIGSEGV, jump);
	zero();
	zero_in_callee();
	overflow();
	overflow_in_callee();
	unused();
	unused_in_callee();
	variable();
	variable_in_callee();
	store();
	store_in_callee();
	load();
	load_in_callee();
	convert();
	convert_in_callee();
	unsigned_convert();
	unsigned_convert_in_callee();
	upwards();
	upwards_in_callee();
	signal(SIGALRM, stop);
	setitimer(ITIMER_REAL, &soon, NULL);
	wait_for_a_signal();
	return 0;
}
