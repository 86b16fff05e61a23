// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * c23-names.c - with glibc 2.38 or newer, programs that follow C23 call strtol() by the name
 * __isoc23_strtol(). The check of COSY_BATCH and the proof without it know both names.
 */
// RUN: %clang -O1 -S -emit-llvm -fplugin-arg-cosy-batch-check %s -o - | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -fplugin-arg-cosy-batch-check -DSTRTOL=__isoc23_strtol %s -o - | FileCheck %s
// RUN: %clang -O1 -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>%t.remarks
// RUN: %clang -O1 -Rpass=cosy -Rpass-missed=cosy -DSTRTOL=__isoc23_strtol -c %s -o %t.o 2>&1 | sed 's/__isoc23_//' | diff %t.remarks -
#include <cosy.h>
#include <unistd.h>

#ifndef STRTOL
#define STRTOL strtol
#endif
#define NAME_OF(name) #name
#define NAME(name) NAME_OF(name)
long number(const char *text, char **end, int base) __asm__(NAME(STRTOL));

// CHECK-LABEL: define {{.*}}@unlinks(
// CHECK: call void @cosy_batch_read_string(
// CHECK-NEXT: call i64 @{{(__isoc23_)?}}strtol(
long unlinks(const char *const *names, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		long length = number(names[i], 0, 10);
		COSY_BATCH(64);
		COSY_START;
		unlink(names[i]);
		COSY_END;
		sum += length;
	}
	return sum;
}
