// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another definition replaces a weak function that contains a region, also where a region calls it.
// RUN: for o in -O0 -O2; do \
// RUN:   %cosy-cc $o -w -DSTRONG -c %s -o %t.strong.o && %cosy-cc $o -w %s %t.strong.o -o %t && \
// RUN:   %run-all --only native,user %t | FileCheck %s || exit 1; \
// RUN: done
#ifdef STRONG

int function(int x)
{
	return x + 100;
}

#else

#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((weak)) int function(int x)
{
	COSY_START;
	x += getppid() >= 0;
	x += getpid() > 0;
	COSY_END;
	return x;
}

int main(void)
{
	int sum = 0;

	COSY_START;
	sum += getppid() >= 0;
	sum += function(1);
	sum += getpid() > 0;
	COSY_END;
	// CHECK: {{^}}103{{$}}
	printf("%d\n", sum);
	return 0;
}

#endif
