/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lines.h - lines that are composed in an output buffer.
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

/** lines_room() - return the address for the next at most @size bytes */
char *lines_room(size_t size);

/** lines_end() - end these bytes at @end */
void lines_end(char *end);

/** lines_flush() - write all lines to stdout */
void lines_flush(void);

#endif /* LINES_H */
