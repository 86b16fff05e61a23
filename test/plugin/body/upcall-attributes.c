// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of an up-call is compiled as the function is that contains it: it may access the address 0, is not
// optimized, has no red zone.
// RUN: %clang -O1 -fno-delete-null-pointer-checks -mno-red-zone -mno-implicit-float -S -emit-llvm -o - %s | FileCheck %s
#include <cosy.h>
#include <unistd.h>

double first(double *p)
{
	double r = 0;

	COSY_START;
	for (int i = 0; i < 9; i++)
		r += getpid() * *p;
	// CHECK: define internal void @{{.*}}first{{.*}}upcall{{.*}} #[[#THUNK:]]
	r += *(double *)0;
	COSY_END;
	return r;
}

__attribute__((optnone)) double second(double *p)
{
	double r = 0;

	COSY_START;
	for (int i = 0; i < 9; i++)
		r += getpid() * *p;
	// CHECK: define internal void @{{.*}}second{{.*}}upcall{{.*}} #[[#OPTNONE:]]
	COSY_END;
	return r;
}

// CHECK-DAG: attributes #[[#THUNK]] = {{.*}} noimplicitfloat noinline {{.*}}noredzone {{.*}}null_pointer_is_valid
// CHECK-DAG: attributes #[[#OPTNONE]] = {{.*}} noimplicitfloat noinline {{.*}}noredzone {{.*}}null_pointer_is_valid optnone
