// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proof-pointers.c - loops without COSY_BATCH whose pointers move, or are chosen in each iteration. Two pointers
 * that differ in every iteration may be equal in two. Only loops whose pointers are into different objects are
 * split. All have the results of the loops as written.
 */
// RUN: %clang -O2 -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not="loop is" %s
// RUN: %cc -O1 -I%include %s -o %t.plain && %t.plain >%t.expected
// RUN: for level in 1 2 3; do \
// RUN:   %cosy-cc -O$level %s -o %t && %run-all %t >%t.out && diff %t.expected %t.out || exit 1; \
// RUN: done
#define _GNU_SOURCE
#include <cosy.h>
#include <stdio.h>
#include <sys/stat.h>

struct entry {
	char flag, name[7];
};

static char bytes[128], left[8], right[8];
static struct entry entries[64];

// CHECK: loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
static __attribute__((noinline)) long both_move(int n)
{
	long skipped = 0;
	char *p = bytes, *q = bytes + 1;

	for (int i = 0; i < n; i++, p++, q++) {
		struct stat st;
		int err;

		if (*p & 1) {
			skipped++;
			continue;
		}
		COSY_START;
		err = stat("/", &st);
		COSY_END;
		*q = 1 + (err != 0);
	}
	return skipped;
}

// CHECK: loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
static __attribute__((noinline)) long previous(int n)
{
	long sum = 0;
	struct entry *before = entries;

	for (struct entry *now = entries + 1; now < entries + n; before = now, now++) {
		struct stat st;
		int err;

		if (before->flag) {
			sum++;
			continue;
		}
		COSY_START;
		err = stat("/", &st);
		COSY_END;
		now->flag = 1 + err;
	}
	return sum;
}

// CHECK: loop is not split: memory that is written here, after the region, may be accessed by another iteration in the region
static __attribute__((noinline)) long window(int n)
{
	long sum = 0;
	char *in = bytes, *out = bytes + 2;

	for (int i = 0; i < n; i++, in++, out++) {
		struct stat st;
		int err;

		COSY_START;
		err = *in & 1 ? stat("/", &st) : stat("/none", &st);
		COSY_END;
		sum = sum * 2 + (err != 0);
		*out = err != 0;
	}
	return sum;
}

// CHECK: loop is not split: memory that is written here, before the region, may be accessed by another iteration after the region
static __attribute__((noinline)) long swaps(int n)
{
	long skipped = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		char *p, *q;
		int err;

		if (i & 1) {
			p = left;
			q = right;
		} else {
			p = right;
			q = left;
		}
		if (q[0] >= 3) {
			skipped++;
			q[1] = 1;
			continue;
		}
		COSY_START;
		err = stat("/", &st);
		COSY_END;
		p[0] += 1 + (err != 0);
	}
	return skipped * 10000 + left[0] * 100 + right[0];
}

// CHECK: loop is not split: memory that is written here, after the region, may be accessed by another iteration before the region
static __attribute__((noinline)) long swaps_parameters(char *restrict a, char *restrict b, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		char *p, *q;
		int err;

		if (i % 3) {
			p = a;
			q = b;
		} else {
			p = b;
			q = a;
		}
		sum = sum * 2 + (p[0] & 1);
		COSY_START;
		err = stat("/", &st);
		COSY_END;
		q[0] += 1 + err;
	}
	return sum;
}

/* Pointers that move through different objects. */
// CHECK: loop is split {{.*}}; its iterations are independent
static __attribute__((noinline)) long apart(const char *const *restrict path, long *restrict sizes, int n)
{
	long sum = 0;
	long *size = sizes;

	for (int i = 0; i < n; i++, path++, size++) {
		struct stat st;
		int err;

		COSY_START;
		err = stat(*path, &st);
		COSY_END;
		*size = err;
		sum = sum * 3 + err + 2;
	}
	return sum;
}

/* A pointer into one of two objects, and a third object. */
// CHECK: loop is split {{.*}}; its iterations are independent
static __attribute__((noinline)) long chosen(const char *const *restrict paths, long *restrict a,
					     long *restrict b, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		long *p = i & 1 ? a : b;
		int err;

		if (bytes[i & 7] > 50)
			continue;
		COSY_START;
		err = stat(paths[i], &st);
		COSY_END;
		p[i & 3] += err;
		sum = sum * 3 + err + 2;
	}
	return sum;
}

int main(void)
{
	static const char *const paths[] = { "/", "/none", "/proc", "/dev/null/x", "/dev", "/none", "/", "/" };
	char a[4] = { 0 }, b[4] = { 0 };
	long sizes[8], odd[4] = { 0 }, even[4] = { 0 };

	printf("both move: %ld\n", both_move(40));
	printf("previous: %ld\n", previous(40));
	printf("window: %ld\n", window(40));
	printf("swaps: %ld\n", swaps(40));
	printf("swaps parameters: %ld\n", swaps_parameters(a, b, 40));
	printf("apart: %ld\n", apart(paths, sizes, 8));
	printf("chosen: %ld\n", chosen(paths, odd, even, 8));
	for (int i = 0; i < 8; i++)
		printf(" %ld,%ld,%ld", sizes[i], odd[i & 3], even[i & 3]);
	printf("\n");
	return 0;
}
