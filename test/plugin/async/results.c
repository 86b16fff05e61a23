// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of COSY_ASYNC functions that refer to an argument by its number, and results.
// RUN: for level in -O0 -O2; do \
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

int main(void)
{
	struct cosy_loop *loop;

	if (cosy_loop_create(&loop, NULL))
		return 2;
	if (RESULT(loop, allocates(10)) != 'c')
		return 7;
	return cosy_loop_destroy(loop) != 0;
}
