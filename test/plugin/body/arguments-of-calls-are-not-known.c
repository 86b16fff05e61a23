// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that native code does not inline does not know its arguments in a region either: it converts, compares
// and traps as natively.
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all --only native,user %t | FileCheck %s
// CHECK: {{^}}1{{$}}
// CHECK-NEXT: {{^}}4294967295 1{{$}}
// CHECK-NEXT: {{^}}signal 8{{$}}
#include <cosy.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf env;

static void jump(int signal)
{
	siglongjmp(env, signal);
}

__attribute__((noinline)) static int compare(const char *a, const char *b)
{
	return strcmp(a, b);
}

__attribute__((noinline)) static int divide(int x, int y)
{
	return x / y;
}

__attribute__((noinline)) static unsigned convert(double x)
{
	return (unsigned)x;
}

int main(int argc, char **argv)
{
	int result;
	int trap = sigsetjmp(env, 1);

	if (trap) {
		printf("signal %d\n", trap);
		return 0;
	}
	signal(SIGFPE, jump);
	COSY_START;
	getpid();
	result = compare("a", "c");
	getppid();
	COSY_END;
	printf("%d\n", result == compare(argc ? "a" : "b", argc ? "c" : "b"));
	COSY_START;
	getpid();
	result = convert(-1.0);
	getppid();
	COSY_END;
	printf("%u %u\n", result, convert(argc));
	COSY_START;
	getpid();
	result = divide(7, 0);
	getppid();
	COSY_END;
	printf("%d %d\n", result, divide(argc, argc));
	return 0;
}
