// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions whose end is never reached run as compounds too; a return, a jump, a
// signal or exit() leaves them.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %run-all --status 142 --no-stats %t killed
// RUN: %run-all --status 5 %t exits
#include <cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma clang diagnostic ignored "-Wcosy-end-not-reached"

__attribute__((noinline)) static int returns(int n)
{
	int sum = 0;

	// CHECK-DAG: endless.c:[[#@LINE+1]]:{{.*}}remark: region became a compound
	COSY_START;
	for (;;) {
		sum += getpid() > 0;
		if (sum > n)
			return sum;
		if (sum == 7)
			goto seven;
	}
	COSY_END;
seven:
	return 77;
}

__attribute__((noinline)) static long spins(volatile long *count)
{
	// CHECK-DAG: endless.c:[[#@LINE+1]]:{{.*}}remark: region became a compound
	COSY_START;
	while (1) {
		++*count;
		getppid();
	}
	COSY_END;
	return 1;
}

__attribute__((noinline)) static long exits(int n)
{
	long sum = 0;

	// CHECK-DAG: endless.c:[[#@LINE+1]]:{{.*}}remark: region became a compound
	COSY_START;
	for (;;)
		if ((sum += getpid() > 0) > n)
			exit(5);
	COSY_END;
}

static int straight(int n)
{
	// CHECK-DAG: endless.c:[[#@LINE+1]]:{{.*}}remark: region became a compound
	COSY_START;
	n += getpid() > 0;
	n += getpid() > 0;
	return n;
	COSY_END;
}

int main(int argc, char **argv)
{
	long count = 0;

	// OUT: 4 77 10
	printf("%d %d %d\n", returns(3), returns(20), straight(8));
	if (argc > 1 && *argv[1] == 'k') {
		alarm(1);
		return spins(&count);
	}
	if (argc > 1)
		exits(20);
	return 0;
}
