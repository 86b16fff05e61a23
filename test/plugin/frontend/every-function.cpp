// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions are checked and their loops are split wherever they are written: methods of local classes, blocks, and
// lambdas in default arguments and in initializers of members.
// RUN: %clangxx -std=c++20 -fblocks -O2 -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clangxx -std=c++20 -fblocks -fsyntax-only -DWRONG -Xclang -verify %s
#include <cosy.h>
#include <sys/stat.h>

#define LOOP(n)                                                                \
	long sum = 0;                                                          \
	for (int i = 0; i < n; i++) {                                          \
		struct stat st;                                                \
		int result;                                                    \
		COSY_BATCH(8);                                                 \
		COSY_START;                                                    \
		result = stat("/", &st);                                       \
		COSY_END;                                                      \
		sum += result;                                                 \
	}                                                                      \
	return sum

long local(int n)
{
	struct Local {
		// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches
		long method(int n) { LOOP(n); }
	};
	return Local().method(n);
}

long block(int n)
{
	// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches
	long (^inner)(int) = ^(int n) { LOOP(n); };
	return inner(n);
}

// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches
long argument(long sum = [](int n) { LOOP(n); }(5))
{
	return sum;
}

struct Member {
	// CHECK-DAG: [[@LINE+1]]:{{.*}} loop is split into batches
	long sum = [](int n) { LOOP(n); }(5);
};

long uses()
{
	return argument() + Member().sum;
}

#ifdef WRONG
long wrong_argument(long sum = [](int n) {
	COSY_START; // expected-error {{COSY_START without COSY_END}}
	return n;
}(5));

struct WrongMember {
	long sum = [](int n) {
		COSY_END; // expected-error {{COSY_END without COSY_START}}
		return n;
	}(5);
};

// A method of a local class of a template is checked once.
template <class T> T instance(T n)
{
	struct Local {
		T method(T n)
		{
			COSY_START; // expected-error {{COSY_START without COSY_END}}
			return n;
		}
	};
	return Local().method(n);
}
#endif
