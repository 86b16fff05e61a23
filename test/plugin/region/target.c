// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compounds are for x86-64. Compiled for another machine, or with pointers of 32 bits,
// regions are only native code, and the compiler reports that.
// RUN: %clang --target=i686-linux-gnu -ffreestanding -O1 -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=IR %s <%t.ll
// RUN: %clang --target=x86_64-linux-gnux32 -ffreestanding -O0 -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=IR %s <%t.ll
// RUN: %clang --target=i686-linux-gnu -ffreestanding -fplugin-arg-cosy-Wno-cosy -Werror -c %s -o %t.o
// RUN: %not %clang --target=i686-linux-gnu -ffreestanding -DOPTIONS -c %s -o %t.o 2>&1 | FileCheck --check-prefix=OPTIONS %s
#include <cosy.h>

int getpid(void);

// IR-NOT: call {{.*}}cosy_
// IR: define {{.*}}@pids
// IR: call {{.*}}@getpid
// IR-NOT: call {{.*}}cosy_
int pids(int n)
{
	int sum = 0;

	// CHECK: target.c:[[#@LINE+1]]:2: warning: region stays native: compounds are for x86-64 with 64-bit pointers [-Wcosy-stays-native]
	COSY_START;
	while (n-- > 0)
		sum += getpid();
	COSY_END;
	// CHECK-NOT: warning:
	COSY_START_NATIVE;
	sum -= getpid();
	COSY_END;
	return sum;
}

COSY_FUNCTION
int twice(const int *p)
{
	return 2 * *p;
}

#ifdef OPTIONS
void stops(void)
{
	// OPTIONS: target.c:[[#@LINE+1]]:2: error: COSY_START_WITH is for x86-64 with 64-bit pointers only
	COSY_START_STOP_ON_ERROR;
	getpid();
	COSY_END;
}
#endif
