// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler makes no call of memset() from a loop whose function forbids that, also if a region calls the
// function or contains the loop.
// RUN: %cc -I%include -O2 -DLIBRARY -c %s -o %t.o
// RUN: %cosy-cc -O2 -Wno-cosy %s %t.o -o %t && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

#define OWN __attribute__((no_builtin("memset")))

#ifdef LIBRARY
int calls;

__attribute__((no_builtin)) void *memset(void *to, int c, size_t size)
{
	volatile char *p = to;

	/* libcosy sets less at once. */
	if (size > 3000)
		calls++;
	while (size--)
		*p++ = c;
	return to;
}

#else
extern int calls;
char buffer[4096];

OWN static void wipe(char *p, int size)
{
	for (int i = 0; i < size; i++)
		p[i] = 0;
}

__attribute__((noinline)) static void callee(int size)
{
	COSY_START;
	close(-1);
	wipe(buffer, size);
	close(-1);
	close(-1);
	COSY_END;
}

OWN __attribute__((noinline)) static void host(int size)
{
	COSY_START;
	close(-1);
	for (int i = 0; i < size; i++)
		buffer[i] = 0;
	close(-1);
	close(-1);
	COSY_END;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		callee(sizeof(buffer) - argc);
		host(sizeof(buffer) - argc);
	}
	// CHECK: {{^}}0 calls{{$}}
	printf("%d calls\n", calls);
	return 0;
}
#endif
