// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-NOTs that cannot fail.
// RUN: program | FileCheck %s
#include <stdio.h>

int main(void)
{
	puts("begin");
	// CHECK: begin
	// CHECK-NOT: a word that is printed nowhere
	// CHECK-NOT: {{end^}}
	// CHECK-NOT: cannot-fail.c:[[#@LINE-7]]: begin
	// UNUSED-NOT: begin
	puts("end");
	// CHECK: end
}
