// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * filter.c - prepare patterns for filter_passes().
 */
#include "filter.h"
#include "../common/allocated.h"

#include <cosy.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static unsigned char fold(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static struct filter *new_pattern(const char *text, size_t length,
				  bool ignore_case, bool for_kernel)
{
	size_t size = sizeof(struct filter) + length;
	struct filter *filter = allocated(for_kernel ? cosy_malloc(size) : malloc(size), 2);
	unsigned char move[256], last;

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

struct filter *filter_new(const char *patterns, bool ignore_case,
			  bool for_kernel)
{
	struct filter *filter = NULL, *first;
	const char *end;

	for (;; patterns = end + 1) {
		end = strchrnul(patterns, '\n');
		first = new_pattern(patterns, end - patterns, ignore_case,
				    for_kernel);
		first->next = filter;
		filter = first;
		if (!*end)
			return filter;
	}
}
