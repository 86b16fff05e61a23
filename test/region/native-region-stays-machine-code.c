// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_START_NATIVE: the region stays machine code, and the function what it is
// without regions.
// RUN: %cosy-cc -O0 -g %s -o %t && COSY_STATS=1 COSY_EXECUTOR=user %t 2>&1 | FileCheck %s
// RUN: %clang -O0 -g -S -emit-llvm %s -o - | FileCheck --check-prefix=LL %s
// RUN: %cc -O2 -I%include %s -o %t -Wall -Werror && %t | FileCheck --check-prefix=PLAIN %s
// RUN: %not %cc -DWITH -I%include -c %s -o %t.o 2>&1 | FileCheck --check-prefix=NEEDS %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// NEEDS: error: {{.*}}COSY_START_WITH needs the Cosy plugin
// LL-LABEL: define{{.*}} i32 @native
// LL: alloca i32
// LL-NOT: cosy
// LL-LABEL: }
int native(int n)
{
	COSY_START_NATIVE;
	n += getpid() > 0;
	COSY_END;
	return n;
}

int both(int n)
{
#ifdef WITH
	COSY_START_WITH(COSY_STOP_ON_ERROR);
	COSY_END;
#endif
	COSY_START_NATIVE;
	n += getpid() > 0;
	COSY_END;
	COSY_START;
	n += native(n) + (getpid() > 0);
	COSY_END;
	return n;
}

int main(void)
{
	// CHECK-NOT: native-region-stays-machine-code.c:{{19|31}}:
	// CHECK: native-region-stays-machine-code.c:34: executor=user
	// CHECK-NOT: native-region-stays-machine-code.c:{{19|31}}:
	// CHECK: {{^}}8
	// PLAIN: 8
	printf("%d\n", both(2));
	return 0;
}
