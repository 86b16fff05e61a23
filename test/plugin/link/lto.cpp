// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -flto and C++: exceptions from functions of other files, inline functions and templates.
// RUN: for options in '-flto -O0' '-flto -O2' '-flto=thin -O0' '-flto=thin -O2'; do \
// RUN:   %build/bin/cosy-c++ $options -w -c %s -o %t.o && %build/bin/cosy-c++ $options -c %S/Inputs/lto-throws.cpp -o %t-throws.o && \
// RUN:   %build/bin/cosy-c++ $options -Rpass=cosy %t.o %t-throws.o -o %t >%t.remarks 2>&1 && FileCheck %s <%t.remarks && \
// RUN:   %run-all %t | FileCheck --check-prefix=OUT %s || exit 1; \
// RUN: done
#include <cosy.h>
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

#include "Inputs/lto-inline.h"

// Inlined into code that catches its exceptions: an invoke runs the compound.
static inline long sum(int n, int *reached)
{
	long s = 0;

	// CHECK-DAG: lto.cpp:[[#@LINE+1]]:2: region became a compound: {{.*}}, 1 system call, {{.*}}, 1 up-call
	COSY_START;
	for (int i = 0; i < n; i++) {
		*reached = i;
		s += getpid() > 0;
		s += may_throw(i);
	}
	COSY_END;
	return s;
}

static long caught(int n)
{
	int reached = -1;

	try {
		long s = sum(n, &reached);
		return 1000 * s + reached;
	} catch (const std::exception &e) {
		std::printf("caught %s at %d\n", e.what(), reached);
		return -1;
	}
}

int main()
{
	// OUT: 4001
	// OUT: caught three at 3
	// OUT: -1
	std::printf("%ld\n", caught(2));
	std::printf("%ld\n", caught(5));
	// A function that several files define is present at least once.
	// CHECK-DAG: lto-inline.h:13:2: region became a compound:
	// CHECK-DAG: lto-inline.h:24:2: region became a compound:
	// OUT: 10 13 3
	std::printf("%d %d %d\n", twice(5), also(5) - 1, minimum<int>(3, 7));
	return 0;
}
