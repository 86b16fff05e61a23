/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* crash.c - a region that uses a bad pointer, without a handler. */
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

struct node {
	struct node *next;
	long value;
};

static __attribute__((noinline)) long walk(struct node *node, int steps)
{
	long sum = 0;

	COSY_START;
	while (steps--) {
		sum += node->value;
		sum += dup(-1);
		node = node->next;
	}
	COSY_END;
	return sum;
}

int main(void)
{
	struct node last = { (struct node *)0x1234560, 5 }, first = { &last, 4 };

	printf("%ld\n", walk(&first, 2));
	fflush(stdout);
	printf("%ld\n", walk(&first, 3));
	return 0;
}
