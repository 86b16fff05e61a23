// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors in C++ name functions as the source does, and the calls that lead to them from the
// marked function.
// RUN: %clangxx -O0 -S -o /dev/null -Xclang -verify %s
// RUN: %clangxx -O2 -S -o /dev/null -Xclang -verify %s
#include <cosy.h>

int foreign(int n);

namespace helpers {
static int add(int n)
{
	return foreign(n) + 1; // expected-error {{call of 'foreign(int)', which is not defined in this file}}
}
template <class T> static T twice(T n)
{
	return 2 * add(n); // expected-note {{called by 'twice<int>'}}
}
}

COSY_FUNCTION int user(int n)
{
	return helpers::twice(n); // expected-note {{called by the COSY_FUNCTION 'user'}}
}

static int down(int n)
{
	return n ? down(n - 1) : 0; // expected-error {{'down(int)' calls itself}} expected-note@+4 {{called by the COSY_FUNCTION}}
}
COSY_FUNCTION int recursive(int n)
{
	return down(n);
}
