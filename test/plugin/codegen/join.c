// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lseek and read are joined although an up-call after them uses a value that was
// loaded between them: here the descriptor is printed.
// RUN: %clang -O2 -c -o %t.o -fplugin-arg-cosy-dump %s 2>&1 | FileCheck --check-prefix=CODE %s
// RUN: %cosy-cc -w -O0 %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -w -O2 %s -o %t && %run-all %t | FileCheck %s
#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int fd;

// CODE: libc.join r{{[0-9]+}}, lseek
int main(void)
{
	char text[10] = "";
	long offset = 3;
	int copy, n;

	fd = open("/etc/passwd", O_RDONLY);
	COSY_START;
	lseek(fd, offset, SEEK_SET);
	copy = fd;
	n = read(copy, text, 9);
	printf("%d %d\n", copy, n);
	COSY_END;
	// CHECK: 3 9
	// CHECK-NEXT: t:
	puts(text);
	return 0;
}
