// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * path.c - the name of the file that a request asks for.
 */
#include "path.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Return the first of some characters, or the end. */
static const char *find_any(const char *from, const char *end, const char *characters)
{
	while (from < end && (!*from || !strchr(characters, *from)))
		from++;
	return from;
}

const char *path_part(const char *target, size_t *size)
{
	const char *end = target + *size, *host;

	/* A client of a proxy sends the whole URL, and a server has to accept that. Its path may be empty. */
	if (*size >= 7 && !strncasecmp(target, "http://", 7)) {
		host = target + 7;
		target = find_any(host, end, "/?#");
		if (target == host)
			return NULL;
	} else if (target == end || *target != '/') {
		return NULL;
	}
	while (target < end && *target == '/')
		target++;
	*size = (size_t)(find_any(target, end, "?#") - target);
	return target;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode "%XX" before @end. Return the byte, or -1. */
static int decode(const char *from, const char *end)
{
	int high, low;

	if (end - from < 3)
		return -1;
	high = hex_digit(from[1]);
	low = hex_digit(from[2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Return true if no file may be sent whose name has this component: it is hidden, or "..". */
static bool is_hidden(const char *component, const char *end)
{
	static const char allowed[] = ".well-known";

	return *component == '.' && ((size_t)(end - component) != strlen(allowed) ||
				     memcmp(component, allowed, strlen(allowed)));
}

int path_from_target(const char *target, size_t size, char *path)
{
	const char *from = path_part(target, &size), *end;
	char *to = path, *component = path;
	int c;

	if (!from)
		return 400;
	end = from + size;
	for (; from < end; from++) {
		c = (unsigned char)*from;
		if (c == '%') {
			c = decode(from, end);
			from += 2;
			/* No name has a slash in a component. */
			if (c == '/')
				return 404;
		}
		if (c <= 0)
			return 400;
		if (c == '/') {
			if (to == component)
				continue;
			if (is_hidden(component, to))
				return 404;
			component = to + 1;
		}
		*to++ = (char)c;
		if (to == path + PATH_ROOM)
			return 414;
	}
	*to = 0;
	return is_hidden(component, to) ? 404 : 0;
}
