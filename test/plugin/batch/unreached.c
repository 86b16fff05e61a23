// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop around a region that is never reached costs nothing: the other variables of its function are not kept in
// memory.
// RUN: %clang -O2 -S -emit-llvm %s -o - | FileCheck %s
// CHECK-NOT: var.annotation
#include <cosy.h>
#include <sys/stat.h>

enum { DEBUG = 0 };

// CHECK-LABEL: @sum(
// CHECK-NOT: alloca
long sum(int n, const int *values)
{
	long total = 0;

	for (int i = 0; i < n; i++)
		total += values[i];
	if (DEBUG)
		for (int i = 0; i < n; i++) {
			struct stat st;

			COSY_START;
			stat("/", &st);
			COSY_END;
		}
	return total;
}
// CHECK: {{^}}}
// CHECK-NOT: var.annotation
