// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At -O0 a region divides, rounds, raises the flags of floating point and calls functions where the source says, also
// if only some paths use the result, or none, and whatever the attributes of the functions promise.
// RUN: %cosy-cc -O0 -w %s -o %t -lm && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static double rounded(double a, double b, int used)
{
	double quotient = a / b;

	fesetround(FE_UPWARD);
	if (used) {
		getppid();
		return quotient;
	}
	return 0;
}

static int raises(double a, double b, int used)
{
	double quotient = a / b;

	getppid();
	if (used) {
		getppid();
		return (int)quotient;
	}
	return 1;
}

static void floats(int one)
{
	double result;
	int flags, other;

	COSY_START;
	getppid();
	result = rounded(one, 3.0, one);
	fesetround(FE_TONEAREST);
	feclearexcept(FE_ALL_EXCEPT);
	other = raises(one, one - 1.0, one - 1);
	flags = fetestexcept(FE_DIVBYZERO) != 0;
	getppid();
	COSY_END;
	// CHECK: {{^}}0x1.5555555555555p-2 1 1{{$}}
	printf("%a %d %d\n", result, flags, other);
}

static int compares(double a, double b, int used)
{
	int less = a < b;

	getppid();
	if (used) {
		getppid();
		return less;
	}
	return 1;
}

static double rounds_up(double a, int used)
{
	double integer = __builtin_rint(a);

	fesetround(FE_UPWARD);
	if (used) {
		getppid();
		return integer;
	}
	return 0;
}

static void more_floats(int one)
{
	double result;
	int invalid, other;

	feclearexcept(FE_ALL_EXCEPT);
	COSY_START;
	getppid();
	other = compares(one, __builtin_nans(""), one - 1);
	invalid = fetestexcept(FE_INVALID) != 0;
	result = rounds_up(one + 0.25, one);
	fesetround(FE_TONEAREST);
	getppid();
	COSY_END;
	// CHECK: {{^}}1 1 1{{$}}
	printf("%g %d %d\n", result, invalid, other);
}

static void constants(int one)
{
	int invalid, result;

	feclearexcept(FE_ALL_EXCEPT);
	COSY_START;
	getppid();
	result = one + (int)__builtin_isnan(__builtin_fma(one, one, __builtin_nans("")));
	invalid = fetestexcept(FE_INVALID) != 0;
	getppid();
	COSY_END;
	// CHECK: {{^}}2 1{{$}}
	printf("%d %d\n", result, invalid);
}

static int calls;

/* Variadic, so that no compound contains them. */
__attribute__((pure)) static int count(int n, ...)
{
	return *(volatile int *)&calls += n;
}

__attribute__((const)) static int count_twice(int n, ...)
{
	return *(volatile int *)&calls += 2 * n;
}

static void counts(void)
{
	int first, second, third, ticks, tocks;

	COSY_START;
	getppid();
	first = count(1);
	second = count(1);
	third = count_twice(1);
	third += count_twice(1);
	asm("incl %1; movl %1, %0" : "=r"(ticks) : "m"(calls));
	asm("incl %1; movl %1, %0" : "=r"(tocks) : "m"(calls));
	getppid();
	COSY_END;
	// CHECK: {{^}}1 2 10 7 8{{$}}
	printf("%d %d %d %d %d\n", first, second, third, ticks, tocks);
}

static void on_signal(int signal)
{
	_exit(0);
}

static int divides(int a, int b)
{
	int quotient, result = 0;

	COSY_START;
	quotient = a / b;
	write(STDOUT_FILENO, "not reached\n", 12);
	if (b) {
		getppid();
		result = quotient;
	}
	COSY_END;
	return result;
}

int main(int argc, char **argv)
{
	floats(argc);
	more_floats(argc);
	constants(argc);
	counts();
	fflush(stdout);
	signal(SIGFPE, on_signal);
	// CHECK-NOT: reached
	divides(100, argc - 1);
	printf("not reached\n");
	return 0;
}
