// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region adds little to the stack of a recursive function: neither the variables of the functions that it
// calls, nor those of blocks before it, which share the stack natively.
// RUN: %cosy-cc -O2 %s -o %t && %run-all --only native,user %t | FileCheck %s
#include <cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int large(const char *name)
{
	char buf[100000];

	strcpy(buf, name);
	return access(buf, F_OK);
}

__attribute__((noinline)) static int callee(int depth)
{
	int sum = 0;

	COSY_START;
	sum += large("/");
	sum += large("/dev");
	COSY_END;
	if (depth)
		sum += callee(depth - 1);
	return sum + (depth & 1);
}

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

__attribute__((noinline)) static int blocks(int depth)
{
	int sum = 0;

	BLOCK(20000)
	BLOCK(20001)
	BLOCK(20002)
	BLOCK(20003)
	COSY_START;
	sum += access("/", F_OK);
	sum += access("/dev", F_OK);
	COSY_END;
	if (depth)
		sum += blocks(depth - 1);
	return sum + (depth & 1);
}

int main(void)
{
	// CHECK: {{^}}100 904{{$}}
	printf("%d %d\n", callee(200), blocks(200));
	return 0;
}
