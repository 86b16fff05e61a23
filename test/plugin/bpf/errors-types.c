// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types that a user function cannot have.
// RUN: %clang -O0 -S -o /dev/null -Xclang -verify %s
// RUN: %clang -fsyntax-only -Xclang -verify %s
#include <cosy.h>
#include <stdarg.h>

COSY_FUNCTION double returns_double(int n) // expected-error {{a COSY_FUNCTION returns an integer of at most 64 bits, a pointer or nothing}}
{
	return n;
}

COSY_FUNCTION int takes_float(float f) // expected-error {{an argument of a COSY_FUNCTION is an integer of at most 64 bits or a pointer to data}}
{
	return f > 0;
}

struct pair { long a, b; };
COSY_FUNCTION long takes_structure(struct pair p) // expected-error {{pass the address of a copy in memory from cosy_malloc()}}
{
	return p.a + p.b;
}

COSY_FUNCTION int takes_function(int (*f)(int)) // expected-error {{an argument of a COSY_FUNCTION is}}
{
	return f(1);
}

COSY_FUNCTION int takes_seven(int a, int b, int c, int d, int e, int f, int g) // expected-error {{a COSY_FUNCTION has at most 6 arguments; put them into a structure}}
{
	return a + b + c + d + e + f + g;
}

COSY_FUNCTION int variadic(int n, ...) // expected-error {{a COSY_FUNCTION cannot have variable arguments; pass an array and its length}}
{
	va_list ap;
	va_start(ap, n);
	va_end(ap);
	return n;
}
