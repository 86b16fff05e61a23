/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * filter.h - is there a pattern anywhere in a file? A user function, which says
 * so without leaving the kernel, too.
 *
 * A filter is made of the patterns once. What it lets through is to be searched
 * for lines then, by search.c; of what it does not, nothing more need be known.
 *
 * Each pattern is looked for by Horspool's algorithm: the byte under the
 * pattern's end says how far the pattern can be moved. So most bytes are not
 * looked at.
 */
#ifndef FILTER_H
#define FILTER_H

#include <cosy.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct filter - a pattern, prepared
 * @next:   another; NULL: none
 * @length: of @text, not 0
 * @again:  how far to move where the pattern's last byte is, but not the pattern
 * @move:   how far to move if this is the byte under the pattern's end; 0 if it
 *	    is the pattern's last
 * @same:   the byte that stands for this one in @text
 * @text:   the pattern
 */
struct filter {
	struct filter *next;
	size_t length;
	unsigned char again, move[256], same[256];
	unsigned char text[];
};

/**
 * filter_new() - make a filter, for as long as the program runs
 * @patterns:    separated by newlines, none of them empty
 * @ignore_case: A is a, where the locale is C
 * @for_kernel:  put it into the segment, where the function finds it in the kernel
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
