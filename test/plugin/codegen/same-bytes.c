// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation tests whether bytes are the same, also if the result of memcmp(), or
// of the bcmp() that LLVM makes of it, is merged with a constant before it is
// compared with zero.
// RUN: %clang -O0 -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct text {
	const char *p;
	size_t n;
};

static int equal(struct text a, struct text b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

// CHECK-LABEL: .compound "count"
// CHECK: .upcalls 0
// CHECK: compare
__attribute__((noinline)) int count(struct text *list, int n, struct text a, struct text b)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		sum += getpid() > 0;
		if (equal(list[i], a) != equal(b, list[i]))
			sum += 10;
		sum += 100 * equal(list[i], b);
	}
	COSY_END;
	return sum;
}

int main(void)
{
	struct text list[] = {{"one", 3}, {"two", 3}, {"three", 5}};

	// OUT: 123
	printf("%d\n", count(list, 3, list[0], list[1]));
	return 0;
}
