// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of -fsanitize=undefined are no uses of a variable's address: a loop that can be split
// without them can be split with them.
// RUN: for level in 0 2; do \
// RUN:   %clang -O$level -fsanitize=undefined -Rpass=cosy -c -o %t.o %s 2>&1 | FileCheck %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <unistd.h>

struct place {
	int x, y;
	struct { long z[2]; } more;
};

int members(int n)
{
	struct place p = { 0 };
	int sum = 0;

	for (int i = 0; i < n; i++) {
		// CHECK: [[@LINE+1]]:{{.*}}remark: loop is split into batches
		COSY_BATCH(8);
		p.x = i;
		p.y = 2 * i;
		p.more.z[1] = i / n;
		COSY_START;
		int called = getpid() > 0;
		COSY_END;
		sum += p.x + p.y + (int)p.more.z[1] + called;
	}
	return sum;
}
