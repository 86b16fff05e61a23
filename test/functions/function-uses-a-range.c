// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * function-uses-a-range.c - a user function uses memory of a range: the ranges are in a block of the
 * function's segment.
 */
// RUN: %clang -O2 -Wall -Werror -Rpass=cosy %s -o %t -L%lib -l:libcosy.a
// RUN: %t | %FileCheck %s
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | %FileCheck --check-prefixes=CHECK,VM %s
// VM-NOT: runs natively
// CHECK: 49995000
#include <assert.h>
#include <cosy.h>
#include <cosy/range.h>
#include <stdio.h>
#include <unistd.h>

#define SIZE	(64u << 10)
#define COUNT	4
#define NODES	100

struct node {
	struct node *next;
	long value;
};

COSY_FUNCTION
static long sum(const struct node *node)
{
	long sum = 0;

	for (; node; node = node->next)
		sum += node->value;
	return sum;
}

int main(void)
{
	struct cosy_ranges_options options = { .struct_size = sizeof(options), .size = SIZE,
					       .count = COUNT };
	struct cosy_ranges *ranges;
	long total = 0;
	int err;

	options.memory = cosy_aligned_alloc(4096, COUNT * SIZE);
	err = cosy_ranges_create(&ranges, &options);
	assert(!err);
	for (int i = 0; i < 100; i++) {
		struct cosy_range *range = cosy_range_take(ranges);
		struct node *list = NULL;

		for (int j = 0; j < NODES; j++) {
			struct node *node = cosy_range_alloc(range, sizeof(*node));

			node->next = list;
			node->value = i * NODES + j;
			list = node;
		}
		COSY_START;
		getppid();
		total += sum(list);
		getppid();
		COSY_END;
		cosy_range_free(ranges, range);
	}
	cosy_ranges_destroy(ranges);
	cosy_free(options.memory);
	printf("%ld\n", total);
	return 0;
}
