// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants of a user function are copied. A function that depends on their addresses,
// and not only on their contents, would have other results in the kernel.
// RUN: %clang -O2 -c -o %t.o -Xclang -verify %s
// RUN: %clang -O0 -c -o %t.o -Xclang -verify %s
#include <cosy.h>
#include <stdint.h>
#include <string.h>

struct node {
	const char *name;
};

static const char none[] = "none", other[] = "other";
static const int table[16] = {1, 2, 3};
static const char *const names[] = {none, other, "more"};

COSY_FUNCTION int is_none(struct node *n)
{
	return n->name == none; // expected-error {{the address of 'none' is compared: in the kernel the function works on a copy}}
}

COSY_FUNCTION int is_any(struct node *n)
{
	for (int i = 0; i < 3; i++)
		if (n->name == names[i]) // expected-error {{the address of 'names' is compared}}
			return i;
	return -1;
}

COSY_FUNCTION const char *name_of(int n) // expected-error {{the address of constant data is handed out}}
{
	return n ? none : other;
}

COSY_FUNCTION void keep(struct node *n)
{
	n->name = none; // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION int aligned(int n)
{
	return (uintptr_t)(table + n) % 16 == 0; // expected-error {{the address of 'table' is computed with}}
}

COSY_FUNCTION int before(void)
{
	return (uintptr_t)none < (uintptr_t)other; // expected-error {{the address of 'none' is compared}} expected-error {{the address of 'other' is compared}}
}

static int helper(const char *a, const char *b)
{
	return a == b; // expected-error {{the address of 'none' is compared}}
}

COSY_FUNCTION int in_a_helper(struct node *n)
{
	return helper(n->name, none); // expected-note {{called by the COSY_FUNCTION 'in_a_helper'}}
}

/* These are valid. */
COSY_FUNCTION int distance(struct node *n)
{
	const int *p = table, *end = table + 16;
	char copy[8];
	int sum = 0;

	while (p < end && *p)
		sum += *p++;
	if (p == table)
		return -1;
	memcpy(copy, none, sizeof(none));
	return sum + (int)(p - table) + (strcmp(n->name, none) == 0) +
	       copy[sum & 3] + names[sum % 3][1] + (int)strlen(names[1]) +
	       (memchr(other, 'h', 5) != 0);
}
