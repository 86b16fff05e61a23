// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of COSY_ASYNC functions of odd widths, and attributes of functions that refer to an
// argument by its number.
// RUN: for level in -O0 -O2 '-O1 -fsanitize=undefined'; do \
// RUN:   %clang $level -std=gnu23 -S -emit-llvm %s -o %t.ll && %opt -passes=verify -disable-output %t.ll && \
// RUN:   %clang $level -std=gnu23 -pthread %s -o %t -L%lib -l:libcosy.a && \
// RUN:   COSY_EXECUTOR=user %t || exit; done
#include <stdlib.h>
#include <unistd.h>

#include <cosy/task.h>

#define RESULT(loop, ...) \
	({ \
		struct cosy_async op_ = { 0 }; \
		if (COSY_SPAWN(loop, __VA_ARGS__, .op = &op_) || \
		    cosy_wait_for(loop, &op_, NULL)) \
			exit(2); \
		op_.result; \
	})

COSY_ASYNC static _BitInt(37) negative(int n)
{
	read(-1, 0, 0);
	return (_BitInt(37))-n;
}

COSY_ASYNC static unsigned _BitInt(37) large(int n)
{
	read(-1, 0, 0);
	return (unsigned _BitInt(37))-n;
}

COSY_ASYNC static _BitInt(5) small(int n)
{
	read(-1, 0, 0);
	return (_BitInt(5))-n;
}

COSY_ASYNC static bool both(int n)
{
	return negative(n) == -n && small(n) == -n && large(n) == (1ull << 37) - n;
}

COSY_ASYNC __attribute__((alloc_size(2), malloc)) static void *allocate(char c, size_t size)
{
	char *p = malloc(size);

	read(-1, 0, 0);
	*p = c;
	return p;
}

COSY_ASYNC static int allocates(size_t size)
{
	char *p = allocate('c', size);
	int c = p[0];

	free(p);
	return c;
}

COSY_ASYNC __attribute__((assume_aligned(16))) static void *aligned(void *p)
{
	read(-1, 0, 0);
	return p;
}

COSY_ASYNC __attribute__((alloc_align(1))) static void *aligned_by(size_t n, void *p)
{
	return aligned(p) == p ? (char *)p + n : NULL;
}

int main(void)
{
	struct cosy_loop *loop;

	if (cosy_loop_create(&loop, NULL))
		return 2;
	if (RESULT(loop, negative(5)) != -5)
		return 3;
	if (RESULT(loop, large(5)) != (1ll << 37) - 5)
		return 4;
	if (RESULT(loop, small(5)) != -5)
		return 5;
	if (RESULT(loop, both(5)) != 1)
		return 6;
	if (RESULT(loop, allocates(10)) != 'c')
		return 7;
	if (RESULT(loop, aligned((void *)64)) != 64 ||
	    RESULT(loop, aligned_by(64, (void *)64)) != 128)
		return 8;
	return cosy_loop_destroy(loop) != 0;
}
