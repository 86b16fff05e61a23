// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * User functions in C++, and in all kinds of builds. A function traverses trees that
 * user code has created, and user code traverses trees of a function, with helpers and constant
 * data, in several segments of one thread.
 */
// RUN: mkdir -p %t.dir && cd %t.dir
// RUN: %build/bin/cosy-c++ -O0 %s -o %t.O0 && %t.O0 > %t.native
// RUN: %build/bin/cosy-c++ -O2 -save-temps %s -o %t.saved
// RUN: %build/bin/cosy-c++ -O2 -flto -fuse-ld=lld %s -o %t.lto
// RUN: for how in O0 saved lto; do \
// RUN:   %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t.$how > %t.out 2> %t.err; \
// RUN:   diff %t.native %t.out && %FileCheck %s < %t.err || exit 1; done
// CHECK-DAG: function {{.*}}sum{{.*}}: executor=kernel
// CHECK-DAG: function {{.*}}insert{{.*}}: executor=kernel
#include <cosy.h>
#include <cstdio>
#include <unistd.h>

namespace {

struct node {
	node *left, *right;
	long key;
	unsigned long mark;
};

struct tree {
	node *root;
	long count;
};

/* Constant data that contains pointers. */
const long weights[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
const long *const table[] = { weights, weights + 4 };

template <typename T> T weight(T key)
{
	return table[key & 1][key >> 1 & 3];
}

bool before(const node &a, const node &b)
{
	return a.key < b.key;
}

/* Created by user code: visit in order, and mark the nodes. */
COSY_FUNCTION unsigned long sum(tree *t)
{
	unsigned long total = 0;
	long last = -1;

	for (;;) {
		node *next = nullptr;

		for (node *n = t->root; n;) {
			if (n->key > last) {
				next = n;
				n = n->left;
			} else {
				n = n->right;
			}
		}
		if (!next)
			return total;
		last = next->key;
		total = total * 31 + last * weight(last);
		next->mark = total;
	}
}

/* Traversed by user code: insert one node at its place. */
COSY_FUNCTION long insert(tree *t, node *n)
{
	node **at = &t->root;

	while (*at)
		at = before(*n, **at) ? &(*at)->left : &(*at)->right;
	*at = n;
	return ++t->count;
}

unsigned long walk(const node *n)
{
	return n ? walk(n->left) * 7 + n->key + n->mark + walk(n->right) : 0;
}

node *make(long key)
{
	node *n = static_cast<node *>(cosy_malloc(sizeof(node)));

	*n = { nullptr, nullptr, key, 0 };
	return n;
}

} // namespace

int main()
{
	for (long i = 0; i < 3; i++) {
		cosy_segment *segment = cosy_segment_create(0);

		cosy_segment_use(segment);
		tree *t = static_cast<tree *>(cosy_malloc(sizeof(tree)));
		unsigned long r = 0;
		long key = 12345 + i;

		*t = { nullptr, 0 };
		for (long k = 0; k < 200; k++) {
			node *n = make(key = key * 1103515245 % 65521);

			COSY_START;
			getppid();
			r += insert(t, n);
			COSY_END;
		}
		std::printf("%lu %lu\n", r, walk(t->root));
		COSY_START;
		getppid();
		r = sum(t);
		COSY_END;
		std::printf("%lu %lu\n", r, walk(t->root));
		cosy_segment_use(nullptr);
		cosy_segment_destroy(segment);
	}
	return 0;
}
