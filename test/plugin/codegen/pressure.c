// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 200 values that live at once, in a loop. Only those that are live at an up-call are
// copied for it.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy %s 2>&1 | FileCheck %s
// CHECK: {{20[0-9]|21[0-9]}} registers
// RUN: %clang -O2 -w -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck --check-prefix=RANGE %s
// RUN: %cosy-cc -O1 %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// OUT: 9722
// OUT-NEXT: up: 9726
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n) TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) \
	TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define SET(X) HUNDRED(X, 1) HUNDRED(X, 2)

#define DECLARE(n) long v##n = v[n % 64];
#define CHANGE(n) v##n = (v##n * 3 + i) % 101;
#define ADD(n) + v##n

static volatile long v[64];

// RANGE-LABEL: .compound "few_at_up_call"
// RANGE: .regs 2{{[0-9][0-9]$}}
// RANGE: upcall 0, r{{[0-9]+}}, {{[1-9]$}}
// RANGE: upcall 1, r{{[0-9]+}}, {{[1-9]$}}
static long few_at_up_call(long a, long b)
{
	long sum;

	COSY_START;
	sum = a + (getpid() < 0);
	putchar('u');
	sum += b;
	SET(DECLARE)
	for (int i = 0; i < 5; i++) {
		SET(CHANGE)
		sum += getpid() < 0;
	}
	sum += 0 SET(ADD);
	putchar('p');
	sum += a * (getpid() > 0);
	COSY_END;
	return sum;
}

int main(void)
{
	long sum;

	for (int i = 0; i < 64; i++)
		v[i] = i;
	COSY_START;
	SET(DECLARE)
	for (int i = 0; i < 5; i++) {
		SET(CHANGE)
		getpid();
	}
	sum = 0 SET(ADD);
	COSY_END;
	printf("%ld\n", sum);
	printf(": %ld\n", few_at_up_call(1, 2));
	return 0;
}
