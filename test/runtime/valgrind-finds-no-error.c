// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * valgrind can run programs with regions and single calls, and programs under `cosy run`: it reads
 * the debug information of libcosy and of libcosy-preload.so, and finds no error in them. It does not
 * know what the module writes, so below it the calls are native, with every executor.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto %s -o %t
// RUN: for by in native user auto; do COSY_EXECUTOR=$by valgrind --error-exitcode=1 --leak-check=full %t >%t.out 2>%t.log || { cat %t.log; exit 1; }; FileCheck %s <%t.out; done
// RUN: %cc -O2 -DCOSY_START= -DCOSY_END= -DPLAIN %s -o %t.plain
// RUN: cosy run valgrind --error-exitcode=1 --leak-check=full %t.plain >%t.out 2>%t.log || { cat %t.log; exit 1; }
// RUN: FileCheck %s <%t.out
// RUN: grep -q 'Memcheck' %t.log

// RUN: %vm sh -c 'for by in kernel ${COSY_CHECK_LONG:+auto}; do COSY_EXECUTOR=$by valgrind --error-exitcode=1 %t || exit 1; done; COSY_EXECUTOR=kernel %build/bin/cosy run valgrind --error-exitcode=1 %t.plain' >%t.out 2>%t.log || { cat %t.log; exit 1; }
// RUN: FileCheck --check-prefix=VM %s <%t.out
// RUN: FileCheck --check-prefix=WHY %s <%t.log
// VM-COUNT-2: 100 of 100
// WHY: cosy: valgrind does not know what the module writes: regions run natively
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
		n += stat("/", &st) == 0 && S_ISDIR(st.st_mode);
	COSY_START;
	for (int i = 0; i < 50; i++)
		n += stat("/", &st) == 0 && S_ISDIR(st.st_mode);
	COSY_END;
	printf("%d of 100\n", n);
	return 0;
}
