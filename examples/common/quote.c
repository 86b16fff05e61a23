// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * quote.c - file names in messages, quoted for a shell.
 */
#include "quote.h"
#include "allocated.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_printable(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

/* Return true if the name, which has a single quote, can be in double quotes. */
static bool fits_double_quotes(const char *name)
{
	for (; *name; name++)
		if (!is_printable(*name) || strchr("!\"$`\\", *name))
			return false;
	return true;
}

static char *put_escaped(char *p, unsigned char c)
{
	static const char controls[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
	const char *control = strchr(controls, c);

	if (control)
		return p + sprintf(p, "\\%c", letters[control - controls]);
	return p + sprintf(p, "\\%03o", c);
}

const char *quote(const char *name)
{
	static char *quoted;
	bool escaping = false;
	char *p;

	free(quoted);
	/* Each byte takes at most 7: '$'\377'. */
	p = quoted = allocated(malloc(7 * strlen(name) + 3), 2);
	if (strchr(name, '\'') && fits_double_quotes(name)) {
		sprintf(quoted, "\"%s\"", name);
		return quoted;
	}
	*p++ = '\'';
	for (; *name; name++) {
		bool escape = !is_printable(*name);

		if (escape && !escaping)
			p = stpcpy(p, "'$'");
		else if (!escape && escaping)
			p = stpcpy(p, "''");
		escaping = escape;
		if (escape)
			p = put_escaped(p, *name);
		else if (*name == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *name;
	}
	strcpy(p, "'");
	return quoted;
}

const char *quote_if_needed(const char *name)
{
	bool needed = !*name || strpbrk(name, " !\"$&'()*;<=>?[\\^`|") ||
		      *name == '#' || *name == '~' ||
		      strcmp(name, "{") == 0 || strcmp(name, "}") == 0;

	for (const char *p = name; *p; p++)
		if (!is_printable(*p))
			needed = true;
	return needed ? quote(name) : name;
}
