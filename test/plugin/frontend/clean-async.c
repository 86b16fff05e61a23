// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_ASYNC and COSY_SPAWN cause no warnings of the compiler, with options and without.
// RUN: %clang -std=c99 -Weverything -Werror -Wno-declaration-after-statement -c %s -o %t.o
// RUN: %clang -std=c11 -Weverything -Werror -Wno-declaration-after-statement -c %s -o %t.o
// RUN: %clang -std=gnu2x -Weverything -Werror -Wno-pre-c2x-compat -c %s -o %t.o
#define _GNU_SOURCE
#include <cosy/task.h>
#include <unistd.h>

int start(struct cosy_loop *loop, int fd, struct cosy_async *op);

COSY_ASYNC static ssize_t copy(int fd)
{
	static char in[10];
	ssize_t n, total = 0;

	while ((n = read(fd, in, sizeof(in))) > 0)
		total += write(fd, in, (size_t)n);
	return total;
}

int start(struct cosy_loop *loop, int fd, struct cosy_async *op)
{
	int err = COSY_SPAWN(loop, copy(fd));

	return err ? err : COSY_SPAWN(loop, copy(fd), .op = op, .data = op);
}
