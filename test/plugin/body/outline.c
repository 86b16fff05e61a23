// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code without a system call that would take longer as operations, or would leave the
// kernel several times, is one up-call. Short code, and code with a call, stays.
// RUN: %clang -O0 -w -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -g -w -c -o %t.o -fplugin-arg-cosy-dump -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O1 -w -c -o %t.o -fplugin-arg-cosy-dump -fplugin-arg-cosy-no-outline %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %clang -O2 -w -flto -c -o %t.bc %s && opt -passes=verify -disable-output %t.bc 2>&1 | count 0
// RUN: %cosy-cc -O0 -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -w -fplugin-arg-cosy-no-outline %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#define _GNU_SOURCE
#include <cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[4096];

// Both sides of a condition, and the code after it.
// CHECK: leaves the kernel for an up-call: call of {{puts|printf}};
// CHECK-LABEL: .compound "sides"
// CHECK: libc {{.*}} getuid
// CHECK-NOT: br
// CHECK: upcall 0
// CHECK-NOT: upcall
// CHECK: libc {{.*}} getgid
// NONE-LABEL: .compound "sides"
// NONE-COUNT-3: upcall
static int sides(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++) {
		n -= (int)getuid() < 0;
		if (i > 1)
			puts("large");
		else
			printf("%d\n", i);
		fflush(stdout);
		n -= (int)getgid() < 0;
	}
	COSY_END;
	return n;
}

// A helper that leaves the kernel on each path, once or more often: after the first call, the others cost
// nothing more in the same up-call.
// CHECK: leaves the kernel for an up-call: call of parse; {{.*}} taken into the region, its own calls would cost as much or more
// CHECK-LABEL: .compound "parses"
// CHECK: .upcalls 1
// NONE-LABEL: .compound "parses"
// NONE: .upcalls 3
static __attribute__((noinline)) int parse(const char *in, long n)
{
	return memmem(in, n, "words", 5) && memmem(in, n, "\n", 1) && memmem(in, n, "here", 4);
}

static int parses(long n)
{
	int found = 0;

	COSY_START;
	for (int i = 0; i < 3; i++) {
		n -= (int)getuid() < 0;
		found += parse(text + i, n);
		n -= (int)getgid() < 0;
	}
	COSY_END;
	return found;
}

// A loop of them: not one in each iteration, with the code that counts.
// CHECK: outline.c:[[#@LINE+9]]:{{.*}}: leaves the kernel for an up-call: call of printf
// CHECK-LABEL: .compound "rounds"
// CHECK-NOT: loop
// CHECK: upcall 0
// CHECK-NOT: loop
static int rounds(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++)
		n += printf("%d\n", i) < 0;
	n += getpid() < 0;
	COSY_END;
	return n;
}

// Code that computes much, with two results. Its place is the loop, or where it begins without optimization.
// CHECK: outline.c:{{100|102}}:{{.*}}: leaves the kernel for an up-call: code that takes longer as operations
// CHECK-LABEL: .compound "counts"
// CHECK-NOT: loop
// CHECK: upcall 0, r{{[0-9]+}}, {{[234]$}}
// CHECK-NOT: loop
static long counts(long size)
{
	long n, lines = 0, words = 0;

	COSY_START;
	n = size + (getpid() < 0);
	for (long i = 0; i < n; i++) {
		lines += text[i] == '\n';
		words += text[i] == ' ' || text[i] == '\n';
	}
	lines += getpid() < 0;
	COSY_END;
	return lines * 1000 + words;
}

static unsigned hash(const char *s, long n)
{
	unsigned h = 5381;

	while (n--)
		h = h * 33 ^ (unsigned char)*s++;
	return h;
}

// The same in a function; two calls of it are one piece.
// CHECK-LABEL: .compound "hashes"
// CHECK: .upcalls 1
// CHECK: upcall 0
static unsigned hashes(long n)
{
	unsigned h;

	COSY_START;
	n += getpid() < 0;
	h = hash(text, n);
	h ^= hash(text + 1, n / 2);
	h += getpid() < 0;
	COSY_END;
	return h;
}

// A loop with a known small number of iterations does not gain; nor are error paths a reason
// to leave where there is no error.
// CHECK-LABEL: .compound "few"
// CHECK: .upcalls 2
// CHECK: loop
// CHECK: upcall
// CHECK: upcall
static int few(int *a)
{
	int sum = 0;

	COSY_START;
	sum += getpid() < 0;
	for (int i = 0; i < 6; i++)
		sum += a[i & 3]++ >> sum;
	if (sum == 1000)
		perror("thousand");
	sum++;
	if (sum == 2000)
		perror("two thousand");
	COSY_END;
	return sum + a[0] + a[1] + a[2];
}

// Native code does not count operations, so a region with a limit runs all it can itself.
// CHECK-LABEL: .compound "limited"
// CHECK: .upcalls 0
static long limited(long n)
{
	long lines = 0;

	COSY_START_WITH(COSY_MAX_OPERATIONS(1000000), COSY_AT_LIMIT(COSY_KILL));
	n += getpid() < 0;
	for (long i = 0; i < n; i++)
		lines += text[i] == '\n';
	COSY_END;
	return lines;
}

// Values wider than registers, and a loop with two exits.
// CHECK: .compound "wide"
// CHECK: upcall
static unsigned __int128 wide(long n)
{
	unsigned __int128 w = n;
	double d = 1;

	COSY_START;
	for (int i = 0; i < 3; i++) {
		w += getpid() > 0;
		for (long j = 0; j < n; j++) {
			w = w * 1000003 + j;
			d = d / 2 + j;
			if (j == 77)
				break;
		}
	}
	w += (long)d;
	COSY_END;
	return w;
}

int main(void)
{
	int a[4] = { 1, 2, 3, 4 };
	unsigned __int128 w;

	for (unsigned int i = 0; i < sizeof(text) - 1; i++)
		text[i] = "some words\nhere, "[i % 17];
	// OUT: 0
	// OUT-NEXT: 1
	// OUT-NEXT: large
	// OUT-NEXT: large
	// OUT-NEXT: sides 4
	printf("sides %d\n", sides(4));
	// OUT-NEXT: parses 3 0
	printf("parses %d %d\n", parses(100), parses(3));
	// OUT-NEXT: 0
	// OUT-NEXT: 1
	// OUT-NEXT: 2
	// OUT-NEXT: rounds 3
	printf("rounds %d\n", rounds(3));
	// OUT-NEXT: counts 241722 0
	printf("counts %ld %ld\n", counts(4096), counts(0));
	// OUT-NEXT: hashes 2571704720 0
	printf("hashes %u %u\n", hashes(4096), hashes(0) ^ hash(text, 0) ^ 5381);
	// OUT-NEXT: few 15
	printf("few %d\n", few(a));
	// OUT-NEXT: limited 59
	printf("limited %ld\n", limited(1000));
	w = wide(100);
	// OUT-NEXT: wide d3d5a474f9440d65 495f2bc300d8faec
	printf("wide %llx %llx\n", (long long)(w >> 64), (long long)w);
	return 0;
}
