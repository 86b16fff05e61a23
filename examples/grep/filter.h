/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter.h - a filter that tests whether a pattern is in a file. It is a user function, so
 * it can run inside the kernel.
 *
 * A filter is prepared once from the patterns. search.c then searches the files that pass.
 * Nothing more need be known about the others.
 *
 * Each pattern is searched by Horspool's algorithm: the byte under the end of the pattern
 * determines how far the pattern can be moved. So most bytes are not read.
 */
#ifndef FILTER_H
#define FILTER_H

#include <cosy.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct filter - a prepared pattern
 * @next:   the next one, or NULL
 * @length: of @text, not 0
 * @again:  the distance to move if the pattern's last byte matches, but not the pattern
 * @move:   the distance to move for each byte under the pattern's end; 0 for the last
 *	    byte of the pattern
 * @same:   for each byte, the byte that @text contains for it
 * @text:   the pattern
 */
struct filter {
	struct filter *next;
	size_t length;
	unsigned char again, move[256], same[256];
	unsigned char text[];
};

/**
 * filter_new() - create a filter, which exists as long as the program
 * @patterns:    separated by newlines, none of them empty
 * @ignore_case: A equals a, as in the C locale
 * @for_kernel:  allocate it in the segment, where the function in the kernel can read it
 *
 * Return: the filter. Ends the program with a message and status 2 if there is no memory.
 */
struct filter *filter_new(const char *patterns, bool ignore_case,
			  bool for_kernel);

/** filter_passes() - return true if one of the patterns is in the data */
COSY_FUNCTION
static inline bool filter_passes(const struct filter *filter,
				 const unsigned char *data, size_t length)
{
	for (; filter; filter = filter->next) {
		size_t last = filter->length - 1, at = last, i;

		while (at < length) {
			unsigned int move = filter->move[data[at]];

			if (move) {
				at += move;
				continue;
			}
			for (i = 0; i < last; i++)
				if (filter->same[data[at - last + i]] !=
				    filter->text[i])
					break;
			if (i == last)
				return true;
			at += filter->again;
		}
	}
	return false;
}

#endif /* FILTER_H */
