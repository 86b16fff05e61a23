// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * filter.c - filters made of patterns.
 */
#include "filter.h"

#include <cosy.h>
#include <errno.h>
#include <error.h>
#include <limits.h>
#include <string.h>

static unsigned char fold(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static struct filter *new_pattern(const char *text, size_t length,
				  bool ignore_case)
{
	struct filter *filter = cosy_malloc(sizeof(*filter) + length);
	unsigned char move[256], last;

	if (!filter)
		error(2, errno, "cannot search");
	filter->length = length;
	memset(move, length < UCHAR_MAX ? length : UCHAR_MAX, sizeof(move));
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = text[i];

		filter->text[i] = ignore_case ? fold(byte) : byte;
		if (i + 1 < length && length - 1 - i < UCHAR_MAX)
			move[filter->text[i]] = length - 1 - i;
	}
	last = filter->text[length - 1];
	filter->again = move[last];
	move[last] = 0;
	for (int i = 0; i < 256; i++) {
		filter->same[i] = ignore_case ? fold(i) : i;
		filter->move[i] = move[filter->same[i]];
	}
	return filter;
}

static void free_patterns(struct filter *filter)
{
	while (filter) {
		struct filter *next = filter->next;

		cosy_free(filter);
		filter = next;
	}
}

struct filter *filter_new(const char *patterns, bool ignore_case)
{
	struct filter *filter = NULL, *first;
	const char *end;

	for (;; patterns = end + 1) {
		end = strchrnul(patterns, '\n');
		if (end == patterns) {
			free_patterns(filter);
			return NULL;
		}
		first = new_pattern(patterns, end - patterns, ignore_case);
		first->next = filter;
		filter = first;
		if (!*end)
			return filter;
	}
}
