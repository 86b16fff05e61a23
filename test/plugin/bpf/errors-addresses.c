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

COSY_FUNCTION void keep_atomically(const char **p)
{
	__atomic_store_n(p, none, __ATOMIC_SEQ_CST); // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION int exchange(const char **p)
{
	return __atomic_exchange_n(p, none, __ATOMIC_SEQ_CST) == 0; // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION int replace(const char **p)
{
	const char *expected = 0;

	return __atomic_compare_exchange_n(p, &expected, none, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION int replace_none(const char **p)
{
	const char *expected = none;

	return __atomic_compare_exchange_n(p, &expected, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); // expected-error {{the address of 'none' is compared}}
}

COSY_FUNCTION int is_a_local(struct node *n, int i, int j)
{
	const char *local[3] = { 0 };

	local[i] = none;
	return local[j] == n->name; // expected-error {{the address of 'none' is compared}}
}

COSY_FUNCTION int exchanges_a_local(struct node *n, int i, int j)
{
	const char *local[3] = { 0 };

	__atomic_store_n(&local[i], none, __ATOMIC_SEQ_CST);
	return __atomic_exchange_n(&local[j], 0, __ATOMIC_SEQ_CST) == n->name; // expected-error {{the address of 'none' is compared}}
}

COSY_FUNCTION int local_number(int i, int j)
{
	uintptr_t local[3] = { 0 };

	local[i] = (uintptr_t)none;
	return local[j] % 16; // expected-error {{the address of 'none' is computed with}}
}

struct pair {
	const char *name;
	long number;
};

static const struct pair pairs[] = { { none, 1 }, { other, 2 } };

COSY_FUNCTION void copy_constant(struct pair *to, int i)
{
	*to = pairs[i]; // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION void copy_constants(struct node *to)
{
	static const char *const many[9] = { none, none, none, none, none, none, none, none, none };

	memcpy(to, many, sizeof(many)); // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION void copy_local(struct pair *to, int i, int j)
{
	struct pair local[3] = { { 0 } };

	local[i].name = none;
	*to = local[j]; // expected-error {{the address of constant data is handed out}}
}

/* The address of an earlier iteration may be that of another constant, also if it has the same origin. */
COSY_FUNCTION long of_earlier_iteration(unsigned int n)
{
	const char *last = NULL;
	long sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		const char *name = names[i % 3];

		if (last)
			sum += name - last; // expected-error {{the address of 'names' is computed with}}
		last = name;
	}
	return sum;
}

/* These are valid. */
COSY_FUNCTION long within_one_of_several(unsigned int n)
{
	const char *name = names[n % 3], *last = strrchr(name, 'e');
	long sum = last > name ? last - name : -1;

	for (unsigned int i = 0; i < n; i++) {
		const char *each = names[i % 3], *found = strchr(each, 'o'), *p = each;

		while (p < each + 3 && *p != 'r')
			p++;
		if (found)
			sum += found - each + (p - each);
	}
	return sum;
}

COSY_FUNCTION void numbers(struct pair *to, int i, int j)
{
	struct pair one = pairs[i], local[3] = { { 0 } };
	const char *const names[9] = { none, other, none, other, none, other, none, other, "more" };

	local[i].name = none;
	local[i].number = one.number;
	to->number = one.number + local[j].number + *names[i];
	if (strcmp(to->name, one.name) == 0)
		to->number += (long)strlen(one.name);
}

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
