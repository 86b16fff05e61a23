// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * valgrind can run programs with regions and single calls: it reads the debug information of
 * libcosy, which is linked into them, and finds no error in libcosy.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto %s -o %t
// RUN: for by in native user auto; do COSY_EXECUTOR=$by valgrind --error-exitcode=1 --leak-check=full %t >%t.out 2>%t.log || { cat %t.log; exit 1; }; FileCheck %s <%t.out; done
// CHECK: 100 of 100

#include <cosy.h>
#include <stdio.h>
#include <sys/stat.h>

int main(void)
{
	struct stat st;
	int n = 0;

	for (int i = 0; i < 50; i++)
		n += stat("/", &st) == 0;
	COSY_START;
	for (int i = 0; i < 50; i++)
		n += stat("/", &st) == 0;
	COSY_END;
	printf("%d of 100\n", n);
	return 0;
}
