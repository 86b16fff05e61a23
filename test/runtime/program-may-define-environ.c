// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program may have a variable of its own with the name environ, which the C standard does not
 * reserve.
 */

// RUN: %cosy-cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall %s -o %t
// RUN: %run-all %t | FileCheck %s
// RUN: %cosy-cc -static -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall %s -o %t.static
// RUN: %run-all %t.static | FileCheck %s
// RUN: %cosy-cc -fcosy-auto -DPLAIN -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall %s -o %t.auto
// RUN: %vm %t.auto | FileCheck %s
// RUN: %cc -DPLAIN -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall %s -o %t.plain
// RUN: %vm %build/bin/cosy run %t.plain | FileCheck %s
// CHECK: 7 100

#ifdef PLAIN
#define COSY_START
#define COSY_END
#else
#include <cosy.h>
#endif
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int environ = 7;

int main(void)
{
	struct stat st;
	int found = 0;

	COSY_START;
	for (int i = 0; i < 100; i++)
		found += !stat("/", &st);
	COSY_END;
	printf("%d %d\n", environ, found);
	return 0;
}
