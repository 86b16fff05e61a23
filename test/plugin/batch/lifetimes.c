// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that is split adds little to the stack: variables that it does not use share the stack as natively.
// RUN: %cosy-cc -O2 %s -o %t && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "/", "/does/not/exist", "/dev" };

__attribute__((noinline)) static void fill(char *buf, size_t size)
{
	memset(buf, 1, size);
	__asm__ volatile("" : : "r"(buf) : "memory");
}

#define BLOCK(SIZE) \
	{ \
		char buf[SIZE]; \
	\
		fill(buf, sizeof(buf)); \
		sum += buf[depth]; \
	}

/* 20 KB for each level; 80 KB if the variables do not share the stack. */
__attribute__((noinline)) static int blocks(int depth)
{
	int sum = 0;

	BLOCK(20000)
	BLOCK(20001)
	for (int i = 0; i < 3; i++) {
		char text[20];
		int error;

		COSY_BATCH(2);
		if (depth == 1 && !i)
			continue;
		text[i] = 'a';
		COSY_START;
		error = access(names[i], F_OK);
		COSY_END;
		if (text[i] != 'a')
			break;
		sum += !error;
	}
	BLOCK(20002)
	BLOCK(20003)
	if (depth)
		sum += blocks(depth - 1);
	return sum + (depth & 1);
}

int main(void)
{
	// CHECK: {{^}}1305{{$}}
	printf("%d\n", blocks(200));
	return 0;
}
