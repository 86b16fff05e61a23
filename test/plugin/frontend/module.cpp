// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exported functions of a module are checked, and their loops are split.
// RUN: %clangxx -std=c++20 -O2 -x c++-module -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clangxx -std=c++20 -x c++-module -fsyntax-only -DWRONG -Xclang -verify %s
module;
#include <cosy.h>
#include <cosy/task.h>
#include <sys/stat.h>
export module files;

// CHECK: loop is split into batches
export long sum(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct stat st;
		int result;

		COSY_BATCH(4);
		COSY_START;
		result = stat("/", &st);
		COSY_END;
		sum += result;
	}
	return sum;
}

#ifdef WRONG
export namespace files
{
long open(int n)
{
	COSY_START; // expected-error {{COSY_START without COSY_END}}
	return n;
}
COSY_FUNCTION long function(double d) // expected-error {{an argument of a COSY_FUNCTION is an integer}}
{
	return d;
}
COSY_ASYNC double async(int n) // expected-error {{a COSY_ASYNC function returns an integer}}
{
	return n;
}
}
#endif
