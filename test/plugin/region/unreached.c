// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that exists nowhere may be called if the native code proves that the call is never
// reached. An up-call, where less is known, refers to it weakly then. Other references stay as
// they are.
// RUN: %cosy-cc -O2 -w %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -w -fno-pie -no-pie %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -w -g -fPIC -fno-plt %s -o %t && %run-all %t | FileCheck %s
// RUN: %cosy-cc -O2 -w -flto %s -o %t && %run-all %t | FileCheck %s
// RUN: %clang -O2 -w -DOTHERS -c %s -o %t.o && nm -u %t.o | FileCheck --check-prefix=OTHERS %s
// RUN: %clang -O0 -w -c %s -o %t.o && nm -u %t.o | FileCheck --check-prefix=PLAIN %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

// OTHERS-DAG: w bad_size
// OTHERS-DAG: U checked
// OTHERS-DAG: U pointed_to
// OTHERS-DAG: w take
// OTHERS-DAG: U told
// PLAIN-DAG: U bad_flag
// PLAIN-DAG: U bad_size
void bad_flag(void);
void bad_size(int size) __attribute__((visibility("hidden")));
void told(void);
int checked(int x) __attribute__((const));
void pointed_to(void);
void take(void (*f)(void));

static int flag; /* never written */

static __attribute__((noinline)) int size(int first, ...)
{
	return 4;
}

int main(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 3; i++) {
		int s = size(i);

		n += getppid() > 0;
		if (flag)
			bad_flag();
		if (s != 4)
			bad_size(i);
#ifdef OTHERS
		if (getppid() == 1000000000)
			told();
		if (s != 4)
			n += checked(i);
		if (s != 4)
			take(pointed_to);
#endif
	}
	COSY_END;
	// CHECK: 3
	printf("%d\n", n);
}
