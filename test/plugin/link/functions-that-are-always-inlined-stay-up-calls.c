// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region whose compound the link step makes calls functions that LLVM always inlines. What a
// compound cannot contain stays native code, with its variables, and their regions run natively.
// RUN: for o in '-flto -O0' '-flto -O2' '-flto=thin -O0' '-flto=thin -O2'; do \
// RUN:   %cosy-cc $o -w %s -o %t && %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALWAYS static inline __attribute__((always_inline))

__attribute__((noinline)) static void overwrite_stack(int n)
{
	volatile char area[4000];

	memset((void *)area, n, sizeof(area));
}

static int sum(int n)
{
	int a[n], s = 0;

	for (int i = 0; i < n; i++)
		a[i] = i;
	close(-1);
	overwrite_stack(n);
	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

ALWAYS int always_sum(int n)
{
	int a[n], s = 0;

	for (int i = 0; i < n; i++)
		a[i] = i;
	close(-1);
	overwrite_stack(n);
	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

ALWAYS int jumps(int n)
{
	close(-1);
	asm goto("test %0, %0; jz %l1" : : "r"(n) : "cc" : zero);
	return n;
zero:
	return 100;
}

ALWAYS int region(int n)
{
	int a[99], s = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		close(-1);
		a[i] = i;
		s += a[i];
		close(-1);
	}
	COSY_END;
	return s;
}

ALWAYS int region_of_array(int n)
{
	int a[n], s = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		close(-1);
		a[i] = i;
		s += a[i];
		close(-1);
	}
	COSY_END;
	return s;
}

static int always(void)
{
	int r = 0;

	COSY_START;
	for (int i = 1; i < 5; i++) {
		close(-1);
		r += always_sum(i * 10);
	}
	COSY_END;
	return r;
}

__attribute__((flatten)) static int flattened(void)
{
	int r = 0;

	COSY_START;
	for (int i = 1; i < 5; i++) {
		close(-1);
		r += sum(i * 10);
	}
	COSY_END;
	return r;
}

static int with_jumps(void)
{
	int r = 0;

	COSY_START;
	for (int i = 0; i < 3; i++) {
		close(-1);
		r += jumps(i);
	}
	COSY_END;
	return r;
}

static int with_regions(void)
{
	int r = 0;

	COSY_START;
	for (int i = 1; i < 5; i++) {
		close(-1);
		r = r * 2 + region(i) + region_of_array(i);
	}
	COSY_END;
	return r;
}

int main(void)
{
	// CHECK: {{^}}1450 1450 103 32 4{{$}}
	printf("%d %d %d %d", always(), flattened(), with_jumps(), with_regions());
	printf(" %d\n", region(2) + 3 * region_of_array(2));
	return 0;
}
