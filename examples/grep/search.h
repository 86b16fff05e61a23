/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * search.h - find lines with fixed strings in a stream of data, and print them.
 *
 * This is plain C outside the regions, because searching makes no system calls. A stream is
 * searched in windows of SEARCH_WINDOW bytes, because GNU grep does so. It prints "binary
 * file matches" from the window on that contains the first NUL.
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

/** struct search_options - which lines are selected, and what is printed */
struct search_options {
	bool ignore_case, invert;
	bool count;		/* count lines, print no lines */
	bool first_only;	/* stop at the first line, print no lines */
	bool numbers;		/* print line numbers */
};

/**
 * struct search - the state of the search of one stream
 * @path:    for messages, and printed before each line if @prefix
 * @prefix:  see @path
 * @matches: number of lines that have matched
 * @binary:  the data has NULs, so lines are not printed; the caller may set it
 *	     before the first window
 * @done:    further data cannot change the result
 *
 * The other members are private. Initially all members are 0.
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
 * search_data() - search the complete windows at the beginning of data
 * @data:   the data that was not consumed, and new data after it; may be changed
 * @length: its length
 * @last:   search the rest, too, although it is not a complete window
 *
 * Return: the number of bytes consumed. The rest is an incomplete line or window, which the
 * next call must get again, with more data after it.
 */
size_t search_data(struct search *search, char *data, size_t length, bool last);

/**
 * search_end() - end the search of a stream
 * @data:   the data that search_data() has not consumed, with room for one more byte
 * @length: its length
 *
 * Searches a last line without a newline, and reports a match in binary data.
 */
void search_end(struct search *search, char *data, size_t length);

#endif /* SEARCH_H */
