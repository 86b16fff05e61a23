// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of C++ without COSY_BATCH that are not split, because an exception may leave them, or because the code is
// not known for certain. The first one is split.
// RUN: %clangxx -O2 -w -Rpass=cosy -Rpass-missed=cosy -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not="loop is" %s
#include <cosy.h>
#include <sys/stat.h>

struct counts {
	long &n;
	~counts() { n++; }
};

/* Another file may define it, too. */
inline long twice(long v)
{
	return 2 * v;
}

static long may_throw(long v)
{
	if (v > 5)
		throw v;
	return v;
}

#define LOOP(before, after)                                                    \
	long sum = 0;                                                          \
	for (int i = 0; i < n; i++) {                                          \
		struct stat st;                                                \
		int err;                                                       \
		before;                                                        \
		COSY_START;                                                    \
		err = stat(paths[i], &st);                                     \
		COSY_END;                                                      \
		after;                                                         \
	}                                                                      \
	return sum;

// CHECK: loop is split
long good(const char *const *paths, int n)
{
	LOOP(, sum += err)
}

// CHECK: loop is not split: the region or the code after it may leave the loop
long throws(const char *const *paths, int n)
{
	LOOP(, if (err) throw err)
}

// CHECK: loop is not split: the effects of '__cxa_allocate_exception' are not known
long throws_in_callee(const char *const *paths, int n)
{
	LOOP(, sum += may_throw(err))
}

// CHECK: loop is not split: 'sum' is declared outside the loop, and its address is used
long destructor(const char *const *paths, int n)
{
	LOOP(counts c{sum}, sum += err)
}

// CHECK: loop is not split: the effects of '_Z5twicel' are not known
long inline_function(const char *const *paths, int n)
{
	LOOP(, sum += twice(err))
}

// A loop around a handler has a form that is not split, so there is no remark.
long handler(const char *const *paths, int n)
{
	LOOP(, try { sum += may_throw(err); } catch (long v) { sum -= v; })
}
