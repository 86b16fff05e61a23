// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-NOTs that can fail, at each place.
// RUN: program | FileCheck --implicit-check-not=again %s
#include <stdio.h>

int main(void)
{
	// CHECK-NOT: {{^(end|again)$}}
	puts("begin");
	// CHECK: begin [[NUMBER:[0-9]+]]
	// CHECK-NOT: [[NUMBER]]
	// CHECK-NEXT: {{.*}}end
	// CHECK-NOT: can-fail.c:[[#@LINE-4]]: begin
	puts("end again");
}
