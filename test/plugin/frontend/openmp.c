// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler makes other loops, and functions, of the statement of an OpenMP directive. COSY_BATCH is an error there
// that says so; a region is none.
// RUN: %clang -fopenmp -O2 -fsyntax-only -Xclang -verify %s
// RUN: %clang -fopenmp -O2 -DREGIONS -w -c %s -o %t.o
#include <cosy.h>
#include <sys/stat.h>

#ifdef REGIONS
#define BATCH
#else
#define BATCH COSY_BATCH(4)
#endif

long parallel_for(int n)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++) {
		struct stat st;
		int result;

		BATCH; // expected-error {{COSY_BATCH in the statement of an OpenMP directive; move the loop to a function that it calls}}
		COSY_START;
		result = stat("/", &st);
		COSY_END;
		sum += result;
	}
	return sum;
}

long in_block(int n)
{
	long sum = 0;

#pragma omp parallel
	{
		for (int i = 0; i < n; i++) {
			struct stat st;

			BATCH; // expected-error {{COSY_BATCH in the statement of an OpenMP directive}}
			COSY_START;
			stat("/", &st);
			COSY_END;
		}
	}
	return sum;
}
