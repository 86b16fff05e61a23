// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * endless.c - a loop whose condition is constant may spin without effects: C does not let the compiler assume that it
 * ends. That holds for a loop with a region, too, with and without COSY_BATCH. These loops spin until SIGALRM ends
 * the program; with the loop removed, it would go on.
 */
// RUN: for level in 1 2 3; do \
// RUN:   for loop in WHILE DO IN_BLOCK BATCH; do \
// RUN:     %cosy-cc -O$level -DLOOP=$loop %s -o %t || exit 1; \
// RUN:     rc=0; COSY_EXECUTOR=native %bounded %t || rc=$?; \
// RUN:     test $rc = 142 || { echo "$loop at -O$level: exit status $rc, not 128 + SIGALRM"; exit 1; } \
// RUN:   done \
// RUN: done

// A loop that may end by its condition must still make progress.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -DLOOP=WHILE %s -o - | FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

enum { WHILE, DO, IN_BLOCK, BATCH };

// CHECK-LABEL: @ends(
// CHECK: br label {{.*}}, !llvm.loop [[ENDS:![0-9]+]]
static __attribute__((noinline, used)) int ends(int n)
{
	int sum = 0;

	while (n--) {
		int result;

		COSY_START;
		result = access("/", F_OK);
		COSY_END;
		sum += result;
	}
	return sum;
}

static __attribute__((noinline)) void serve(int verbose)
{
	int failures = 0;

	switch (LOOP) {
	case WHILE:
		while (1) {
			if (verbose) {
				COSY_START;
				write(1, "x", 1);
				COSY_END;
			}
		}
	case DO:
		do {
			if (!verbose)
				continue;
			COSY_START;
			write(1, "x", 1);
			COSY_END;
		} while (2 > 1);
	case IN_BLOCK:
		if (verbose < 5)
			while (sizeof(int)) {
				if (!verbose)
					continue;
				COSY_START;
				access("/", F_OK);
				COSY_END;
			}
		break;
	case BATCH:
		while (1) {
			int result;

			COSY_BATCH(4);
			if (!verbose)
				continue;
			COSY_START;
			result = access("/", F_OK);
			COSY_END;
			failures += result;
			if (failures > 9)
				break;
		}
	}
	printf("%d\n", failures);
}

int main(void)
{
	alarm(1);
	serve(0);
	puts("returned");
	return 0;
}
// CHECK: [[ENDS]] = distinct !{[[ENDS]],
// CHECK-NEXT: !{!"llvm.loop.mustprogress"}
