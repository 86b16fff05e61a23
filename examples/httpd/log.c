// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * log.c - the access log.
 *
 * Processes write whole lines to one file, which is open for appending, so lines do not mix.
 */
#include "log.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PART 1024	    /* Bytes of a part of a request that are logged. */
#define LINE (16 * PART)    /* Bytes of a line: three parts, each byte as "\xHH". */
#define BUFFER (64 * 1024)

static char buffer[BUFFER], stamp[40];
static size_t have;
static int file = -1;

void log_to(int fd)
{
	file = fd;
}

void log_time(time_t now)
{
	struct tm tm;

	/* The time of day is that of UTC: a root directory of its own has no time zones. */
	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "[%d/%b/%Y:%H:%M:%S +0000]", &tm);
}

static char *put_number(char *to, uint64_t number)
{
	char digits[20];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*to++ = digits[--count];
	return to;
}

/* A client cannot write a line of its own, or control a terminal that shows the log. */
static char *put_escaped(char *to, const char *base, const struct extent *part)
{
	static const char hex[] = "0123456789abcdef";
	const char *from = base + part->at;
	uint32_t size = part->size < PART ? part->size : PART;

	if (!size)
		*to++ = '-';
	for (uint32_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
			*to++ = (char)c;
			continue;
		}
		to = mempcpy(to, "\\x", 2);
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	return to;
}

static char *put_text(char *to, const char *text)
{
	return mempcpy(to, text, strlen(text));
}

/* The first line of a request whose header is not complete is not known. */
static char *put_first_line(char *to, const struct request *request, const char *base)
{
	const http_parser *parser = &request->parser;

	*to++ = '"';
	if (!request->complete)
		return put_text(to, "-\"");
	to = put_text(to, http_method_str((enum http_method)parser->method));
	*to++ = ' ';
	to = put_escaped(to, base, &request->target);
	to = put_text(to, " HTTP/");
	to = put_number(to, parser->http_major);
	*to++ = '.';
	to = put_number(to, parser->http_minor);
	*to++ = '"';
	return to;
}

static char *put_field(char *to, const struct request *request, const char *base,
		       enum request_field field)
{
	*to++ = ' ';
	*to++ = '"';
	to = put_escaped(to, base, &request->fields[field]);
	*to++ = '"';
	return to;
}

void log_request(const char *client, const struct request *request, const char *base, int status,
		 int64_t size)
{
	char *to;

	if (file < 0)
		return;
	if (sizeof(buffer) - have < LINE)
		log_flush();
	to = put_text(buffer + have, client);
	to = put_text(to, " - - ");
	to = put_text(to, stamp);
	*to++ = ' ';
	to = put_first_line(to, request, base);
	*to++ = ' ';
	to = put_number(to, (uint64_t)status);
	*to++ = ' ';
	to = put_number(to, (uint64_t)size);
	to = put_field(to, request, base, REQUEST_REFERER);
	to = put_field(to, request, base, REQUEST_USER_AGENT);
	*to++ = '\n';
	have = (size_t)(to - buffer);
}

void log_flush(void)
{
	static bool told;
	size_t done = 0;
	ssize_t n;

	while (done < have) {
		n = write(file, buffer + done, have - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done < have && !told)
		error(0, errno, "cannot write the access log; lines are lost");
	told = done < have;
	have = 0;
}
