/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * search.h - find lines with fixed strings in a stream of data, and print them.
 *
 * Plain C, outside the regions: searching makes no system calls. A stream is
 * searched in windows of SEARCH_WINDOW bytes, because GNU grep does so and says
 * "binary file matches" from the window on in which it sees the first NUL.
 *
 * There is one set of patterns for the program. Not thread-safe.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** SEARCH_WINDOW - bytes of new data in each window but the last */
#define SEARCH_WINDOW 98304

/** struct search_options - what a matching line is, and what is done with it */
struct search_options {
	bool ignore_case, invert;
	bool count;		/* count lines, print none */
	bool first_only;	/* stop at the first line, print none */
	bool numbers;		/* print line numbers */
};

/**
 * struct search - where the search of one stream stands
 * @path:    for messages, and printed before each line if @prefix
 * @prefix:  see @path
 * @matches: lines that matched so far
 * @binary:  there are NULs, so lines are not printed; the caller may set it
 *	     before the first window if it knows
 * @done:    nothing that follows can change the result
 *
 * The rest is the search's own; all 0 to begin with.
 */
struct search {
	const char *path;
	bool prefix;
	uintmax_t matches;
	bool binary, done;
	uintmax_t matches_as_text, line;
	size_t residue;
};

/**
 * search_init() - set the patterns
 * @patterns: separated by newlines, as on the command line; copied
 * @options:  copied
 */
void search_init(const char *patterns, const struct search_options *options);

/** search_selects_empty_lines() - return true if an empty line is selected */
bool search_selects_empty_lines(void);

/**
 * search_data() - search the whole windows at the front of data
 * @data:   what was not consumed before, and what has been read since; may be
 *	    changed
 * @length: its length
 * @last:   search the rest, too, although it is no whole window
 *
 * Return: the bytes consumed; the rest is an incomplete line or window, and is
 * to come again, with more after it.
 */
size_t search_data(struct search *search, char *data, size_t length, bool last);

/**
 * search_end() - end the search of a stream
 * @data:   what search_data() did not consume, room for one byte after it
 * @length: its length
 *
 * Searches a last line without a newline and complains of a match in binary
 * data.
 */
void search_end(struct search *search, char *data, size_t length);

#endif /* SEARCH_H */
