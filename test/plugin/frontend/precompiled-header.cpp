// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of functions of a precompiled header are split as if the header were included, once, and those of the file
// itself are, too.
// RUN: %clangxx -O2 -x c++-header %s -o %t.pch
// RUN: %clangxx -O2 -include-pch %t.pch -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clangxx -O2 -include-pch %t.pch -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | FileCheck --check-prefix=IR %s
// RUN: %clangxx -x c -O2 -x c-header %s -o %t.pch
// RUN: %clang -x c -O2 -include-pch %t.pch -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck %s
#ifndef IN_HEADER
#define IN_HEADER
#include <cosy.h>
#include <sys/stat.h>

static inline long first(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_BATCH(8);
		COSY_START;
		stat("/", &st);
		COSY_END;
		sum += st.st_nlink;
	}
	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_BATCH(8);
		COSY_START;
		stat("/", &st);
		COSY_END;
		sum += st.st_nlink;
	}
	return sum;
}

static inline long second(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;

		// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches of up to 8 iterations
		COSY_BATCH(8);
		COSY_START;
		stat("/", &st);
		COSY_END;
		sum = sum * 3 + st.st_nlink;
	}
	while (n--) {
		struct stat st;

		// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches of up to 8 iterations
		COSY_BATCH(8);
		COSY_START;
		stat("/", &st);
		COSY_END;
		sum = sum * 5 + st.st_nlink;
	}
	return sum;
}
#else
// IR-LABEL: define {{.*}}own
// IR: call void @__cosy_batch_step(
// IR-LABEL: define {{.*}}second
// IR-COUNT-2: call void @__cosy_batch_step(
// IR-NOT: call void @__cosy_batch_step(
static long own(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;

		// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches of up to 8 iterations
		COSY_BATCH(8);
		COSY_START;
		stat("/", &st);
		COSY_END;
		sum += 1;
	}
	return sum;
}

long both(int n)
{
	return own(n) + second(n);
}
#endif
