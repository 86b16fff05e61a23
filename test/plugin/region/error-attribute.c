// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call of a function with the attribute error, behind a condition that the
// compiler decides, is removed as it is without a region: also where the code
// behind the condition does not return to the region.
// RUN: %clang -O1 -w -c -o %t.o %s
// RUN: %clang -O2 -w -c -o %t.o %s
// RUN: %cosy-cc -O2 -w -DMAIN %s -o %t && COSY_EXECUTOR=user %t
// RUN: %cosy-cc -O2 -w -DMAIN -flto %s -o %t && COSY_EXECUTOR=user %t
// RUN: %cosy-cc -O2 -w -DMAIN -flto=thin %s -o %t && COSY_EXECUTOR=user %t
// The same for the attribute warning.
// RUN: %clang -O2 -Werror -fplugin-arg-cosy-Wno-cosy -DMAIN -c -o %t.o %s
// If the native code has the call, clang reports it there, and only there.
// RUN: not %clang -O2 -w -DUSED -c -o %t.o %s 2>&1 | FileCheck %s
// CHECK: error: call to 'too_large' declared with 'error' attribute
// CHECK-NOT: error: call
// RUN: %clang -O2 -DDOUBTFUL -c -o %t.o %s 2>&1 | FileCheck --check-prefix=WARN %s
// WARN: call to 'rather_large' declared with 'warning' attribute
// WARN-NOT: warning: call
#include <cosy.h>
#include <stdlib.h>
#include <unistd.h>

void too_small(void) __attribute__((__error__("too small")));
void use(char *);

struct key { char bytes[128]; };

char *checked(struct key *key)
{
	void *p = &key->bytes[0];

	COSY_START;
	getpid();
	if (__builtin_object_size(p, 0) < 32) {
		getpid();
		too_small();
		abort();
	}
	use(key->bytes);
	getpid();
	COSY_END;
	return key->bytes;
}

// The size is known where the function is inlined. The compound is made before.
void too_large(void) __attribute__((__error__("too large")));
void rather_large(void) __attribute__((__warning__("rather large")));

static inline int limited(int size)
{
	int n = 0;

	COSY_START;
	n += getpid() > 0;
	if (size > 64)
		too_large();
	if (size > 32)
		rather_large();
	for (int i = 0; i < 2; i++)
		n += getpid() > 0;
	COSY_END;
	return n;
}

#ifdef MAIN
void use(char *bytes)
{
}

void rather_large(void)
{
}

int main(void)
{
	return limited(8) != 3;
}
#elif defined(USED)
int too_much(int n)
{
	return limited(n);
}
#elif defined(DOUBTFUL)
int rather_much(int n)
{
	return limited(n & 63);
}
#endif
