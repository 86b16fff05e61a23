/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lines.h - lines that are put together where they are written from.
 *
 *	char *p = lines_room(size);
 *
 *	p = …;				at most size bytes
 *	lines_end(p);
 *
 * Code that writes to stdout by other means calls lines_flush() before. Not
 * thread-safe.
 */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

/** lines_room() - where the next @size bytes, or fewer, are to be put */
char *lines_room(size_t size);

/** lines_end() - what was put there ends at @end */
void lines_end(char *end);

/** lines_flush() - hand everything on to stdout */
void lines_flush(void);

#endif /* LINES_H */
