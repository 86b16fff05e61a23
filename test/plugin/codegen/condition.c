// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition that is computed in the middle of an up-call is one value after it.
// RUN: %cosy-cc -O0 -Wall -Wextra -Werror -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O1 -fsanitize=undefined -Wno-cosy %s -o %t && %run-all %t | FileCheck %s
// CHECK: both 8 any 24 wide 3
#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int both, any;

static void count(volatile double *d, int x, int y)
{
	COSY_START;
	if (getpid() > 0) {
		*d += 0.5;
		int p = (x > 3) & (y < 5), q = (x > 3) | (y < 5);
		*d *= 1.5;
		if (p)
			both += getppid() >= 0;
		if (q)
			any += getppid() >= 0;
	}
	COSY_END;
}

long wide(long n);
long wide(long n)
{
	__attribute__((unused)) __int128 a = n;

	COSY_START;
	for (int i = 1; i < 9; i++)
		if (write(-1, "", 0) < 0)
			a -= errno;
	COSY_END;
	return n;
}

int main(void)
{
	volatile double d = 1;

	for (int i = 0; i < 32; i++)
		count(&d, i & 7, i / 8 * 4);
	printf("both %d any %d wide %ld\n", both, any, wide(3));
}
