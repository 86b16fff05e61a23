/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reader.h - reads strings and lists of the program that may not be readable.
 *
 * Natively, exec fails with EFAULT if a string cannot be read. So each page is probed before it is
 * read here.
 */
#ifndef COSY_READER_H
#define COSY_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "device/probe.h"

/**
 * struct reader - reads memory of the program that may not be readable
 * @strings:  address of the page from which a character was read last
 * @pointers: address of the page from which a pointer was read last
 * @failed:   something could not be read
 */
struct reader {
	unsigned long strings;
	unsigned long pointers;
	bool failed;
};

/* A reader that has read nothing. No page has an odd address. */
#define READER	{ .strings = 1, .pointers = 1 }

/* Return true if the page of @address can be read. @last is the one that was read last. */
static inline bool can_read(struct reader *reader, unsigned long *last, const void *address)
{
	unsigned long page = (unsigned long)address & -COSY_PAGE;

	if (page != *last) {
		if (!cosy_can_read(page))
			reader->failed = true;
		*last = page;
	}
	return !reader->failed;
}

static inline char read_char(struct reader *reader, const char *at)
{
	return can_read(reader, &reader->strings, at) ? *at : '\0';
}

static inline char *read_pointer(struct reader *reader, char *const *at)
{
	/* It may be in two pages. */
	if ((unsigned long)at % sizeof(*at))
		reader->failed = true;
	return can_read(reader, &reader->pointers, at) ? *at : NULL;
}

/* Return the end of @prefix in @string; NULL if @string does not begin with it. */
static inline const char *after(struct reader *reader, const char *string, const char *prefix)
{
	while (*prefix) {
		if (read_char(reader, string++) != *prefix++)
			return NULL;
	}
	return string;
}

/* Return the last component of @path. */
static inline const char *last_component(struct reader *reader, const char *path)
{
	const char *last = path;
	char c;

	while ((c = read_char(reader, path++))) {
		if (c == '/')
			last = path;
	}
	return last;
}

static inline bool is_string(struct reader *reader, const char *string, const char *expected)
{
	const char *end = after(reader, string, expected);

	return end && !read_char(reader, end);
}

#endif /* COSY_READER_H */
