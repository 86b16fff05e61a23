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

#include "../common/write.h"
#include "header.h"

#define PART 1024	    /* Bytes of a part of a request that are logged. */
#define LINE (16 * PART)    /* Bytes of a line: three parts, each byte as "\xHH". */
#define BUFFER (64 * 1024)

static char buffer[BUFFER], stamp[40];
static size_t have, stamp_size;
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
	stamp_size = strftime(stamp, sizeof(stamp), " - - [%d/%b/%Y:%H:%M:%S +0000] ", &tm);
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

/* The first line of a request whose header is not complete is not known. */
static char *put_first_line(char *to, const struct request *request, const char *base)
{
	const llhttp_t *parser = &request->parser;

	*to++ = '"';
	if (!request->complete)
		return header_text(to, "-\"");
	to = header_text(to, llhttp_method_name((llhttp_method_t)parser->method));
	*to++ = ' ';
	to = put_escaped(to, base, &request->target);
	to = header_text(to, " HTTP/");
	/* The parser accepts only one digit for each. */
	*to++ = (char)('0' + parser->http_major);
	*to++ = '.';
	*to++ = (char)('0' + parser->http_minor);
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
	to = header_text(buffer + have, client);
	to = mempcpy(to, stamp, stamp_size);
	to = put_first_line(to, request, base);
	*to++ = ' ';
	to = header_number(to, (uint64_t)status);
	*to++ = ' ';
	to = header_number(to, (uint64_t)size);
	to = put_field(to, request, base, REQUEST_REFERER);
	to = put_field(to, request, base, REQUEST_USER_AGENT);
	*to++ = '\n';
	have = (size_t)(to - buffer);
}

void log_stuck(const char *client, const struct incoming *in)
{
	char line[LINE], *to = line;
	ssize_t n;

	to = header_text(to, "worker ");
	to = header_number(to, (uint64_t)getpid());
	to = header_text(to, " is stuck: ");
	to = header_text(to, client);
	if (in) {
		*to++ = ' ';
		to = put_first_line(to, &in->request, in->bytes);
	}
	*to++ = '\n';
	n = write(STDERR_FILENO, line, (size_t)(to - line));
	(void)n;
}

void log_flush(void)
{
	static bool told;
	size_t done = 0;
	ssize_t n;

	while (done < have) {
		n = write_some(file, buffer + done, have - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	if (done < have && !told)
		error(0, errno, "cannot write the access log; lines are lost");
	told = done < have;
	have = 0;
}
