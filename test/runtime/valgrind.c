// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * valgrind can run programs with regions and single calls, and programs under `cosy run`: it reads
 * the debug information of libcosy and of libcosy-preload.so, and finds no error in them.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto %s -o %t
// RUN: for by in native user auto; do COSY_EXECUTOR=$by valgrind --error-exitcode=1 --leak-check=full %t >%t.out 2>%t.log || { cat %t.log; exit 1; }; FileCheck %s <%t.out; done
// RUN: %cc -O2 -DCOSY_START= -DCOSY_END= -DPLAIN %s -o %t.plain
// RUN: cosy run valgrind --error-exitcode=1 --leak-check=full %t.plain >%t.out 2>%t.log || { cat %t.log; exit 1; }
// RUN: FileCheck %s <%t.out
// RUN: grep -q 'Memcheck' %t.log
// CHECK: 100 of 100

#ifndef PLAIN
#include <cosy.h>
#endif
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
