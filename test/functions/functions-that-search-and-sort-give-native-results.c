// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The kernel's verifier accepts functions that search and sort tables, lists, trees and arrays.
 * They give the same results in the kernel, as up-calls and natively.
 */
// RUN: %clang -O2 -Wall -Werror %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=native %t > %t.out
// RUN: diff %t.native %t.out
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// CHECK-NOT: runs natively
// CHECK-DAG: function look_up: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function quicksort: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function reverse: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function tree_walk: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function binary_search: executor=kernel upcalls=1{{$}}
// CHECK-DAG: function heap: executor=kernel upcalls=1{{$}}
#include <cosy.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "Inputs/typical.h"

/* A hash table of strings, with chaining. */
struct entry {
	struct entry *next;
	char key[24];
	long value;
};

struct table {
	struct entry *bucket[64];
};

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619;
	return h;
}

COSY_FUNCTION static long look_up(const struct table *t, const char *key)
{
	for (const struct entry *e = t->bucket[hash(key) % 64]; e; e = e->next)
		if (!strcmp(e->key, key))
			return e->value;
	return -1;
}

/* Quicksort with its own stack, and insertion sort for short parts. */
COSY_FUNCTION static long quicksort(int *a, int n)
{
	struct {
		int low, high;
	} stack[32];
	int depth = 0, deepest = 0;

	stack[depth].low = 0;
	stack[depth++].high = n - 1;
	while (depth) {
		int low = stack[--depth].low, high = stack[depth].high;
		int i = low, j = high, pivot = a[low + (high - low) / 2];

		if (high - low < 8) {
			for (i = low + 1; i <= high; i++) {
				int v = a[i];

				for (j = i; j > low && a[j - 1] > v; j--)
					a[j] = a[j - 1];
				a[j] = v;
			}
			continue;
		}
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				int v = a[i];

				a[i++] = a[j];
				a[j--] = v;
			}
		}
		if (depth + 2 > 32)
			return -1;
		/* The longer part first, so that the stack is sufficient. */
		if (j - low > high - i) {
			stack[depth].low = low;
			stack[depth++].high = j;
			stack[depth].low = i;
			stack[depth++].high = high;
		} else {
			stack[depth].low = i;
			stack[depth++].high = high;
			stack[depth].low = low;
			stack[depth++].high = j;
		}
		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

struct node {
	struct node *next, *left, *right;
	long key;
};

COSY_FUNCTION static struct node *reverse(struct node *list)
{
	struct node *done = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = done;
		done = list;
	}
	return done;
}

/* A tree in order, with an array as the stack. */
COSY_FUNCTION static unsigned long tree_walk(const struct node *n)
{
	const struct node *stack[64];
	unsigned long sum = 0;
	int depth = 0;

	while (n || depth) {
		while (n && depth < 64) {
			stack[depth++] = n;
			n = n->left;
		}
		n = stack[--depth];
		sum = sum * 31 + n->key;
		n = n->right;
	}
	return sum;
}

COSY_FUNCTION static long binary_search(const int *a, long n, int key)
{
	long low = 0, high = n;

	while (low < high) {
		long middle = low + (high - low) / 2;

		if (a[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && a[low] == key ? low : -1;
}

/* A heap with the smallest element first, as in event queues. */
COSY_FUNCTION static long heap(int *a, int n)
{
	long sum = 0;

	for (int i = n / 2; i-- > 0;)
		for (int at = i, child; (child = 2 * at + 1) < n; at = child) {
			int v = a[at];

			if (child + 1 < n && a[child + 1] < a[child])
				child++;
			if (v <= a[child])
				break;
			a[at] = a[child];
			a[child] = v;
		}
	while (n > 1) {
		int at = 0, child, v = a[0];

		sum = sum * 7 + v;
		a[0] = a[--n];
		while ((child = 2 * at + 1) < n) {
			v = a[at];
			if (child + 1 < n && a[child + 1] < a[child])
				child++;
			if (v <= a[child])
				break;
			a[at] = a[child];
			a[child] = v;
			at = child;
		}
	}
	return sum;
}

/* The data of the functions, all in the segment. */
struct data {
	struct table table;
	struct entry entries[200];
	struct node nodes[100];
	int numbers[1000];
	char text[24];
};

static void prepare(struct data *d)
{
	struct node *root = &d->nodes[0], **at;

	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < LENGTH(d->entries); i++) {
		struct entry *e = &d->entries[i], **bucket;

		snprintf(e->key, sizeof(e->key), "key number %zu", i);
		e->value = (long)(i * i);
		bucket = &d->table.bucket[hash(e->key) % 64];
		e->next = *bucket;
		*bucket = e;
	}
	for (size_t i = 0; i < LENGTH(d->nodes); i++) {
		struct node *n = &d->nodes[i];

		n->key = next() % 1000;
		n->next = i ? n - 1 : NULL;
		if (!i)
			continue;
		for (at = &root; *at; at = n->key < (*at)->key ? &(*at)->left : &(*at)->right)
			;
		*at = n;
	}
	for (size_t i = 0; i < LENGTH(d->numbers); i++)
		d->numbers[i] = (int)(next() % 5000) - 2500;
}

static void run(struct data *d, bool print)
{
	const char *list[] = { "key number 0", "key number 137", "key number 200" };
	struct node *first = &d->nodes[99];
	long found[3], values[2], right = 0;
	unsigned long walked;

	prepare(d);
	for (int i = 0; i < 3; i++) {
		strcpy(d->text, list[i]);
		COSY_START;
		getppid();
		found[i] = look_up(&d->table, d->text);
		COSY_END;
	}
	COSY_START;
	getppid();
	walked = tree_walk(&d->nodes[0]);
	first = reverse(first);
	values[0] = quicksort(d->numbers, 1000);
	COSY_END;
	COSY_START;
	getppid();
	for (int i = 0; i < 100; i++)
		right += binary_search(d->numbers, 1000, i * 37 - 1800);
	values[1] = heap(d->numbers, 1000);
	COSY_END;
	if (print) {
		printf("found %ld %ld %ld\n", found[0], found[1], found[2]);
		printf("walked %lu, first %td, depth %ld, searched %ld, heap %ld\n", walked,
		       first - d->nodes, values[0], right, values[1]);
	}
}

int main(void)
{
	struct data *d = cosy_malloc(sizeof(*d));

	/* The first call of a function is an up-call, because its program is loaded then. */
	run(d, false);
	run(d, true);
	return 0;
}
