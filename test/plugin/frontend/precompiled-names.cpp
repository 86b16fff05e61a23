// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If <cosy.h> and <cosy/task.h> are in a precompiled header, a file is compiled as if it included them, also if it uses
// no name of these that the compiler has to look up for it.
// RUN: %clangxx -O2 -x c++-header %s -o %t.pch
// RUN: %clangxx -O2 -include-pch %t.pch -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clangxx -O2 -include-pch %t.pch -fsyntax-only -DWRONG -Xclang -verify %s
// RUN: %clangxx -O2 -include-pch %t.pch -Xclang -disable-llvm-passes -S -emit-llvm -DTASK %s -o - | FileCheck --check-prefix=TASK %s
#ifndef IN_HEADER
#define IN_HEADER
#include <cosy.h>
#include <cosy/task.h>
#include <sys/stat.h>
#include <unistd.h>
#elif defined(WRONG)
COSY_ASYNC double wrong(int n) // expected-error {{a COSY_ASYNC function returns an integer}}
{
	return n;
}
#elif defined(TASK)
// TASK: cosy_async_unsigned
COSY_ASYNC unsigned value(int n)
{
	char c;

	return 0x90000000u + n + (read(-1, &c, 1) > 0);
}
#else
long sum(const char *const *paths, int n)
{
	long sum = 0;

	// CHECK: loop is split into batches {{.*}}; its iterations are independent
	for (int i = 0; i < n; i++) {
		struct stat st;
		int result;

		COSY_START;
		result = stat(paths[i], &st);
		COSY_END;
		sum += result;
	}
	return sum;
}
#endif
