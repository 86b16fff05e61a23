// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The condition of a loop with a region is evaluated in each iteration, also if its value is always true.
 */
// RUN: for level in 0 1 2; do \
// RUN:   %cosy-cc -O$level -Wno-cosy %s -o %t || exit 1; \
// RUN:   for executor in native user; do COSY_EXECUTOR=$executor %t | FileCheck %s || exit 1; done \
// RUN: done
// CHECK: 5 5
// CHECK-NEXT: 5 6
// CHECK-NEXT: 4 4
#include <cosy.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool more(int *n)
{
	return ++*n;
}

static int step(void)
{
	int result;

	COSY_START;
	result = 1 + access("/", F_OK) + access("/", F_OK);
	COSY_END;
	return result;
}

int main(void)
{
	int n = 0, r = 0;

	while (n++, 1) {
		COSY_START;
		r += 1 + access("/", F_OK) + access("/", F_OK);
		COSY_END;
		if (n == 5 || r > 20)
			break;
	}
	printf("%d %d\n", n, r);

	n = r = 0;
	do {
		COSY_START;
		r += 1 + access("/", F_OK) + access("/", F_OK);
		COSY_END;
		if (n == 5 || r > 20)
			break;
	} while (++n || 1);
	printf("%d %d\n", n, r);

	n = r = 0;
	while (more(&n) || true) {
		r += step();
		COSY_START;
		access("/", F_OK);
		access("/", F_OK);
		COSY_END;
		if (n > 3 || r > 50)
			break;
	}
	printf("%d %d\n", n, r);
	return 0;
}
