// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * search.c - find lines with fixed strings in a stream of data, and print them.
 */
#include "search.h"
#include "../common/allocated.h"

#include <ctype.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct search_options options;

static struct pattern {
	const char *text;
	size_t length;
	const char *next;	/* first match at or after the last position searched */
} *patterns;
static size_t npatterns;

/* The data that is searched: the original data, or a copy in lower case. */
static char *folded;
static size_t folded_size;

static void fold(char *to, const char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = from[i] >= 'A' && from[i] <= 'Z' ? from[i] - 'A' + 'a' :
							   from[i];
}

void search_init(const char *text, const struct search_options *with)
{
	char *copy = allocated(strdup(text), 2), *end;

	options = *with;
	if (options.ignore_case)
		fold(copy, copy, strlen(copy));
	for (;; copy = end + 1) {
		end = strchrnul(copy, '\n');
		patterns = allocated(reallocarray(patterns, npatterns + 1, sizeof(*patterns)), 2);
		patterns[npatterns++] = (struct pattern){
			.text = copy,
			.length = end - copy,
		};
		if (!*end)
			return;
	}
}

bool search_selects_empty_lines(void)
{
	bool any_empty = false;

	for (size_t i = 0; i < npatterns; i++)
		any_empty |= patterns[i].length == 0;
	return any_empty != options.invert;
}

/*
 * Returns the first place in from … end where a pattern is, or end. For one end, calls have
 * rising from. So a pattern is not searched again while its last match is ahead.
 */
static const char *find(const char *from, const char *end)
{
	const char *first = end;

	for (size_t i = 0; i < npatterns; i++) {
		struct pattern *pattern = &patterns[i];

		if (!pattern->next || pattern->next < from) {
			pattern->next = memmem(from, end - from, pattern->text,
					       pattern->length);
			if (!pattern->next)
				pattern->next = end;
		}
		if (pattern->next < first)
			first = pattern->next;
	}
	return first;
}

static size_t count_lines(const char *from, const char *end)
{
	size_t count = 0;

	while (from < end) {
		from = memchr(from, '\n', end - from);
		if (!from)
			break;
		from++;
		count++;
	}
	return count;
}

/* Handles a selected line. @line is the number of lines before. */
static void take_line(struct search *search, const char *from, const char *end,
		      uintmax_t line)
{
	search->matches++;
	if (options.count)
		return;
	if (options.first_only || search->binary) {
		search->done = true;
		return;
	}
	if (search->prefix)
		printf("%s:", search->path);
	if (options.numbers)
		printf("%ju:", line + 1);
	fwrite(from, 1, end - from, stdout);
}

static void take_lines(struct search *search, const char *from,
		       const char *end, uintmax_t line)
{
	while (from < end && !search->done) {
		const char *next = (char *)memchr(from, '\n', end - from) + 1;

		take_line(search, from, next, line++);
		from = next;
	}
}

/* Searches complete lines. */
static void search_lines(struct search *search, const char *data, size_t length)
{
	const char *text = data, *from = data, *end = data + length;
	uintmax_t line = search->line;

	if (options.ignore_case) {
		if (length > folded_size) {
			folded_size = length;
			folded = allocated(realloc(folded, folded_size), 2);
		}
		fold(folded, data, length);
		text = folded;
	}
	for (size_t i = 0; i < npatterns; i++)
		patterns[i].next = NULL;
	while (from < end && !search->done) {
		const char *match = find(text + (from - data), text + length);
		const char *begin = end, *next = end;

		if (match < text + length) {
			match = data + (match - text);
			begin = memrchr(from, '\n', match - from);
			begin = begin ? begin + 1 : from;
			next = (char *)memchr(match, '\n', end - match) + 1;
		}
		if (options.invert)
			take_lines(search, from, begin, line);
		if (options.numbers)
			line += count_lines(from, begin);
		if (begin < end) {
			if (!options.invert)
				take_line(search, begin, next, line);
			line++;
		}
		from = next;
	}
	search->line = line;
}

/* Searches one window. Returns the length of its complete lines, which are done. */
static size_t search_window(struct search *search, char *data, size_t length)
{
	const char *newline;
	char *fresh, *end = data + length;
	size_t done;

	fresh = data + search->residue;
	if (!search->binary && memchr(fresh, '\0', end - fresh)) {
		search->binary = true;
		search->matches_as_text = search->matches;
	}
	/* In binary data, a NUL also ends a line. */
	if (search->binary)
		for (; fresh < end; fresh++)
			*fresh = *fresh ? *fresh : '\n';
	newline = memrchr(data, '\n', length);
	done = newline ? newline + 1 - data : 0;
	search_lines(search, data, done);
	search->residue = length - done;
	return done;
}

size_t search_data(struct search *search, char *data, size_t length, bool last)
{
	size_t consumed = 0;

	while (!search->done) {
		size_t left = length - consumed;
		size_t window = search->residue + SEARCH_WINDOW;

		if (window > left) {
			if (!last || left == search->residue)
				break;
			window = left;
		}
		consumed += search_window(search, data + consumed, window);
	}
	return consumed;
}

void search_end(struct search *search, char *data, size_t length)
{
	if (length && !search->done) {
		data[length] = '\n';
		search_lines(search, data, length + 1);
	}
	if (search->binary && search->matches > search->matches_as_text &&
	    !options.count && !options.first_only)
		error(0, 0, "%s: binary file matches", search->path);
}
