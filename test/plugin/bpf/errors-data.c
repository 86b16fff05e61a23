// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant data is copied into the segment. No code may get the address of the copy.
// RUN: %clang -O0 -S -o /dev/null -Xclang -verify %s
// RUN: %clang -O2 -S -o /dev/null -Xclang -verify %s
#include <cosy.h>
#include <string.h>

static const char *const names[] = { "one", "two", "three" };

COSY_FUNCTION const char *hands_out(int n) // expected-error {{the address of constant data is handed out}}
{
	return n ? "yes" : "no";
}

COSY_FUNCTION void stores(const char **p, int n)
{
	*p = names[n]; // expected-error {{the address of constant data is handed out, and would be that of a copy; hand out a number that stands for it, or copy the data}}
}

/* Reading does not expose the address. */
COSY_FUNCTION int finds(const char *s)
{
	const char *const *p;
	int n = 0;

	for (p = names; p < names + 3; p++)
		n += !strcmp(s, *p) || *p == names[1];
	return n;
}

static const _Alignas(128) unsigned char wide[128] = { 1, 2, 3 };

COSY_FUNCTION int reads_wide(int n) // expected-error {{'wide' is aligned to 128 bytes, and its copy in the segment to at most 64; give it a smaller alignment}}
{
	return wide[n & 127];
}
