// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of an up-call may access the address 0 if the function may.
// RUN: %clang -O1 -fno-delete-null-pointer-checks -S -emit-llvm -o - %s | FileCheck %s
#include <cosy.h>
#include <unistd.h>

double first(double *p)
{
	double r = 0;

	COSY_START;
	for (int i = 0; i < 9; i++)
		r += getpid() * *p;
	// CHECK: define internal void @{{.*}}upcall{{.*}} #[[#THUNK:]]
	// CHECK: attributes #[[#THUNK]] = {{.*}} null_pointer_is_valid
	r += *(double *)0;
	COSY_END;
	return r;
}
