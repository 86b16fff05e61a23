// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At -O0 a region divides, rounds and raises the flags of floating point where the source says, also if only some
// paths use the result.
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
	fflush(stdout);
	signal(SIGFPE, on_signal);
	// CHECK-NOT: reached
	divides(100, argc - 1);
	printf("not reached\n");
	return 0;
}
