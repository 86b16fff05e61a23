// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user function can also get the address of a constant as a number, or by way of another constant.
// RUN: %clang -O2 -c -o %t.o -Xclang -verify %s
// RUN: %clang -O0 -c -o %t.o -Xclang -verify %s
#include <cosy.h>
#include <stdint.h>
#include <string.h>

struct pair {
	const char *name;
	long number;
};

static const char none[] = "none", other[] = "other";
static const int table[16] = { 1, 2, 3 };
static const char *const names[] = { none, other, "more" };
static const struct pair pairs[] = { { none, 1 }, { other, 2 } };
static const struct pair *const pointers[] = { &pairs[0], &pairs[1] };
static const union {
	const char *pointer;
	uintptr_t number;
} unions[] = { { .pointer = none }, { .pointer = other } };

COSY_FUNCTION void copy_by_way_of_another(struct pair *to, int i)
{
	*to = *pointers[i]; // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION uintptr_t number_of_union(int i) // expected-error {{the address of constant data is handed out}}
{
	return unions[i].number;
}

COSY_FUNCTION int computes_with_union(int i)
{
	return unions[i].number % 16; // expected-error {{the address of 'unions' is computed with}}
}

COSY_FUNCTION uintptr_t read_as_number(int i) // expected-error {{the address of constant data is handed out}}
{
	return *(const uintptr_t *)&names[i];
}

COSY_FUNCTION int copy_as_number(int i)
{
	uintptr_t number;

	memcpy(&number, &names[i], sizeof(number));
	return number % 16; // expected-error {{the address of 'names' is computed with}}
}

COSY_FUNCTION uintptr_t swaps(void)
{
	return __builtin_bswap64((uintptr_t)none); // expected-error {{the address of 'none' is computed with}}
}

COSY_FUNCTION uintptr_t rotates(int n)
{
	return __builtin_rotateleft64((uintptr_t)none, n); // expected-error {{the address of 'none' is computed with}}
}

COSY_FUNCTION int adds(uintptr_t n)
{
	uintptr_t sum;

	return __builtin_add_overflow((uintptr_t)none, n, &sum); // expected-error {{the address of 'none' is computed with}}
}

COSY_FUNCTION int aligns(int i)
{
	return *(const int *)__builtin_align_down(table + i, 64); // expected-error {{the address of 'table' is computed with}}
}

COSY_FUNCTION int byte_by_byte(int i)
{
	return ((const unsigned char *)names)[i]; // expected-error {{the address of 'names' is computed with}}
}

COSY_FUNCTION void copies_bytes(char *to, int i, int n)
{
	const char *from = (const char *)&pairs[i];

	while (n--)
		*to++ = *from++; // expected-error {{the address of constant data is handed out}}
}

COSY_FUNCTION int compares_memory(const struct pair *p, int i)
{
	return memcmp(p, &pairs[i], sizeof(*p)); // expected-error {{the address of 'pairs' is compared}}
}

COSY_FUNCTION uintptr_t by_way_of_another(int i) // expected-error {{the address of constant data is handed out}}
{
	return *(const uintptr_t *)&pointers[i]->name;
}

COSY_FUNCTION int by_way_of_a_copy(int i)
{
	const char *const many[9] = { none, none, none, none, none, none, none, none, none };

	return ((const unsigned char *)many)[i]; // expected-error {{the address of 'none' is computed with}}
}

/* From one member to the next. */
static const struct mixed {
	char text[8];
	const char *name;
} mixed[] = { { "a", none }, { "b", other } };

COSY_FUNCTION uintptr_t from_member_to_member(int i) // expected-error {{the address of constant data is handed out}}
{
	const char *text = mixed[i].text;

	return *(const uintptr_t *)(text + sizeof(mixed[i].text));
}

/* These are valid. */
COSY_FUNCTION int words(const char *s, size_t n)
{
	for (size_t i = 0; i < 2; i++) {
		const char *p = mixed[i].text;

		if (strlen(mixed[i].text) == n && memcmp(mixed[i].text, s, n) == 0)
			return mixed[i].name[0];
		while (*p && *p == *s)
			p++, s++;
	}
	return 0;
}

COSY_FUNCTION long sum(const char *name)
{
	const struct {
		const char *name;
		long number;
	} local[6] = { { none, 1 }, { other, 2 }, { "x", 3 }, { "y", 4 }, { "z", 5 } };
	long all = 0;

	for (const struct pair *p = pairs; p < pairs + 2; p++)
		if (strcmp(p->name, name) == 0)
			all += p->number;
	for (int i = 0; i < 6 && local[i].name; i++)
		all += local[i].number * 2;
	return all;
}

COSY_FUNCTION long position(int c)
{
	return strchr(none, c) - none;
}

static const struct {
	const char *name;
	long numbers[3];
	char text[8];
} records[] = { { none, { 1, 2, 3 }, "text" }, { NULL, { 4, 5 }, "more" } };

COSY_FUNCTION long numbers_beside_addresses(char *to, int i, int j)
{
	memcpy(to, names[i], 4);
	memcpy(to + 4, records[i].text, 8);
	return records[i].numbers[j] * 2 + records[i].text[j] + pointers[i]->number % 3;
}
