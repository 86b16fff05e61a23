// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A counted loop needs one operation besides its body.
// RUN: %clang -O0 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// CHECK-LABEL: .compound "count"
// CHECK: .inputs {{[12]}}
// CHECK: .line "{{.*}}loop.c", [[#@LINE+11]]
// CHECK-NEXT: [[LOOP:L[0-9]+]]:
// CHECK-NEXT: libc r{{[0-9]+}}, getpid
// CHECK-NOT: add
// CHECK: loop.{{[48]}}.ne r{{[0-9]+}}, {{-?}}1, r{{[0-9]+}}, [[LOOP]]
__attribute__((noinline)) int count(int n)
{
	int last = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		last = getpid();
	COSY_END;
	return last > 0;
}

// CHECK-LABEL: .compound "nested"
// CHECK: loop
// CHECK: loop
__attribute__((noinline)) long nested(int n)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		for (int j = i; j > 0; j -= 2) {
			if (j == 7)
				continue;
			if (sum > 100000)
				break;
			sum += (long)i * j;
		}
		sum += getppid() > 0;
	}
	COSY_END;
	return sum;
}

__attribute__((noinline)) int dowhile(int n)
{
	int steps = 0;

	COSY_START;
	do {
		n = n % 2 ? 3 * n + 1 : n / 2;
		steps += getpid() > 0;
	} while (n != 1);
	COSY_END;
	return steps;
}

int main(void)
{
	// OUT: 1 0
	printf("%d %d\n", count(5), count(0));
	// OUT-NEXT: 50158 0
	printf("%ld %ld\n", nested(30), nested(0));
	// OUT-NEXT: 111 8
	printf("%d %d\n", dowhile(27), dowhile(6));
	return 0;
}
