// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions in static inline functions of headers, in macros, in functions that
// other regions call, and in C++.
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -I%S/Inputs %s 2>&1 | FileCheck %s
// CHECK-DAG: region.h:[[#]]:{{.*}}remark: region became a compound
// CHECK-DAG: headers.c:[[#@LINE+20]]:{{.*}}remark: region became a compound: {{.*}} 3 system calls
// RUN: %clang -O2 -c -o %t.o -Rpass=cosy -I%S/Inputs -include cosy.h %s 2>&1 | FileCheck %s
// RUN: %cosy-cc -O0 -I%S/Inputs %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %cosy-cc -O2 -I%S/Inputs %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
// RUN: %build/bin/cosy-c++ -O2 -x c++ -I%S/Inputs %s -o %t && %run-all %t | FileCheck --check-prefix=OUT %s
#include "region.h"
#include <stdio.h>

#define TWICE(x) do { COSY_START; (x) += getpid() > 0; (x) += getppid() >= 0; COSY_END; } while (0)

static int with_region(int n)
{
	COSY_START;
	n += getpid() > 0;
	COSY_END;
	return n;
}

static int calls_it(int n)
{
	COSY_START;
	n = with_region(n) * 2;
	n = in_header(n);
	n += getpid() > 0;
	COSY_END;
	return n;
}

int main(void)
{
	int x = 0;

	TWICE(x);
	TWICE(x);
	// OUT: 4 6 15
	printf("%d %d %d\n", x, with_region(5), calls_it(6));
	return 0;
}
