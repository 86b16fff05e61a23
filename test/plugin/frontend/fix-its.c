// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages of all stages have fix-its if the marker can be moved.
// RUN: %clang -c -o %t.o -fdiagnostics-parseable-fixits -Rpass-missed=cosy %s 2>&1 | FileCheck %s
// RUN: %not %clang -c -o %t.o -DERRORS -fdiagnostics-parseable-fixits -fdiagnostics-print-source-range-info %s 2>&1 | FileCheck --check-prefix=ERR %s
#include <cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void moves(int n)
{
	// CHECK: [[#@LINE+5]]:12: remark: leaves the kernel for an up-call: call of malloc
	// CHECK: note: begin the region after this statement
	// CHECK: fix-it:"{{.*}}":{[[#@LINE+2]]:2-[[#@LINE+2]]:13}:""
	// CHECK: fix-it:"{{.*}}":{[[#@LINE+2]]:23-[[#@LINE+2]]:23}:" COSY_START;"
	COSY_START;
	char *p = malloc(10);
	for (int i = 0; i < n; i++)
		// CHECK: [[#@LINE+3]]:4: remark: leaves the kernel for an up-call: call of printf
		// CHECK-NOT: note:
		if (write(1, p, 1) < 0)
			printf("%d\n", i);
	// CHECK: [[#@LINE+4]]:2: remark: leaves the kernel for an up-call: call of free
	// CHECK: note: end the region before this statement
	// CHECK: fix-it:"{{.*}}":{[[#@LINE+2]]:2-[[#@LINE+2]]:2}:"COSY_END; "
	// CHECK: fix-it:"{{.*}}":{[[#@LINE+2]]:2-[[#@LINE+2]]:11}:""
	free(p);
	COSY_END;
}

#ifdef ERRORS
void unclosed(int n)
{
	// ERR: [[#@LINE+2]]:2:{{.*}}error: COSY_START without COSY_END
	// ERR: fix-it:"{{.*}}":{[[#@LINE+3]]:1-[[#@LINE+3]]:1}:"COSY_END;\n"
	COSY_START;
	n++;
}
#endif
