// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call that is thin with its arguments is a system call of the compound, although a later pass makes
// a pointer of the loop of the array in which its name is: utimensat() of a null pointer is not thin.
// RUN: %clang -O0 -S -o %t.s -Rpass-missed=cosy -Rpass=cosy %s 2>&1 | FileCheck %s
// RUN: %clang -O2 -S -o %t.s -Rpass-missed=cosy -Rpass=cosy %s 2>&1 | FileCheck %s
// CHECK-NOT: leaves the kernel
#include <cosy.h>
#include <fcntl.h>
#include <sys/stat.h>

static char names[100][16];

char (*all_names(void))[16]
{
	return names;
}

int set_times(int directory, const struct timespec *times)
{
	int failed = 0;

	// CHECK: thin-arguments-stay-known.c:[[#@LINE+1]]:2: remark: region became a compound: {{.*}}, 1 system call,
	COSY_START;
	for (int i = 0; i < 100; i++)
		failed += utimensat(directory, names[i], times, 0);
	COSY_END;
	return failed;
}
// CHECK-NOT: leaves the kernel
