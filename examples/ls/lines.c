// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * lines.c - lines that are composed in an output buffer.
 */
#include "lines.h"
#include "../common/allocated.h"

#include <stdio.h>
#include <stdlib.h>

/* The size of writes, unless a line is longer. */
enum { PIECE = 64 * 1024 };

static struct {
	char *text;
	size_t size, used;
} lines;

char *lines_room(size_t size)
{
	if (lines.size - lines.used < size) {
		lines_flush();
		if (lines.size < size) {
			lines.size = size > PIECE ? size : PIECE;
			free(lines.text);
			lines.text = allocated(malloc(lines.size), 2);
		}
	}
	return lines.text + lines.used;
}

void lines_end(char *end)
{
	lines.used = end - lines.text;
}

void lines_flush(void)
{
	if (lines.used)
		fwrite(lines.text, 1, lines.used, stdout);
	lines.used = 0;
}
