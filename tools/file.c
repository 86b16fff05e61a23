// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * file.c - reads a tool's input.
 */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *read_file(const char *name, size_t *size)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	size_t room = 1 << 16, got, used = 0;
	char *text = NULL, *more;
	int error;

	if (!in)
		return NULL;
	do {
		room *= 2;
		more = realloc(text, room);
		if (!more)
			goto fail;
		text = more;
		got = fread(text + used, 1, room - used, in);
		used += got;
	} while (got && used == room);
	if (ferror(in))
		goto fail;
	if (in != stdin)
		fclose(in);
	*size = used;
	return text;

fail:
	error = errno ? errno : EIO;
	free(text);
	if (in != stdin)
		fclose(in);
	errno = error;
	return NULL;
}
