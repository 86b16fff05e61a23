// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A region that was entered a few times has no verdict, and COSY_STATS says so.
 */

// RUN: %cosy-cc -O2 %s -o %t
// RUN: %vm env COSY_STATS=1 %t 3 2>&1 | FileCheck --check-prefix=FEW %s
// RUN: %vm env COSY_STATS=1 %t 6 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %vm env COSY_STATS=1 %t 500 2>&1 | FileCheck --check-prefix=MANY %s
// RUN: %vm env COSY_STATS=1 COSY_EXECUTOR=kernel %t 6 2>&1 | FileCheck --check-prefix=FEW %s
// FEW-NOT: verdict=
// NONE: runs=6 {{.*}}verdict=none{{$}}
// MANY: verdict={{gains|loses}}
#include <cosy.h>
#include <stdlib.h>
#include <sys/stat.h>

__attribute__((noinline)) static int statuses(void)
{
	struct stat st;
	int failed = 0;

	COSY_START;
	for (int i = 0; i < 20; i++)
		failed |= stat("/", &st);
	COSY_END;
	return failed;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		if (statuses())
			return 1;
	return 0;
}
