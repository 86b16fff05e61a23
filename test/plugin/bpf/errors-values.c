// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More values than a BPF function has room for are one error, at the function.
// RUN: %clang -O0 -S -o /dev/null -Xclang -verify %s
// RUN: %clang -O2 -g -S -o /dev/null -Xclang -verify %s
#include <cosy.h>
#include <stdint.h>

#define TEN(X, t)	X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define NINETY(X)	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)
#define FIRST(i)	uint64_t v##i = p[i];
#define NEXT(i)		v##i = v##i * n + p[i + round];
#define LAST(i)		^ v##i

COSY_FUNCTION uint64_t many(const uint64_t *p, uint64_t n) // expected-error {{too many values live at once for a BPF function, which has room for about 60; keep some of them in an array}}
{
	NINETY(FIRST)
	for (uint64_t round = 0; round < n; round++) {
		NINETY(NEXT)
	}
	return 0 NINETY(LAST);
}

/* This is the remedy. */
COSY_FUNCTION uint64_t in_array(const uint64_t *p, uint64_t n)
{
	uint64_t v[100], sum = 0;

	for (int i = 10; i < 100; i++)
		v[i] = p[i];
	for (uint64_t round = 0; round < n; round++)
		for (int i = 10; i < 100; i++)
			v[i] = v[i] * n + p[i + round];
	for (int i = 10; i < 100; i++)
		sum ^= v[i];
	return sum;
}
