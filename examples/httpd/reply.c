// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * reply.c - the header of answers.
 *
 * Header and contents are contiguous, so that one send() sends both: a second segment costs more
 * than reading a small file.
 */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "condition.h"
#include "header.h"

static struct reply *unused;

/* What follows the status in each answer, and then the date. */
#define SERVER "\r\nServer: cosy-httpd\r\nDate: "

static char common[sizeof(SERVER) - 1 + CONDITION_DATE];
static time_t date;

struct reply *reply_new(void)
{
	struct reply *reply = unused;

	if (reply)
		unused = reply->next;
	else
		reply = malloc(sizeof(*reply));
	if (reply) {
		reply->file = -1;
		reply->body = 0;
	}
	return reply;
}

void reply_release(struct reply *reply)
{
	if (reply->file >= 0)
		close(reply->file);
	reply->next = unused;
	unused = reply;
}

void reply_date(time_t now)
{
	date = now;
	memcpy(common, SERVER, sizeof(SERVER) - 1);
	condition_date(now, common + sizeof(SERVER) - 1);
}

time_t header_date(void)
{
	return date;
}

char *header_number(char *to, uint64_t number)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	char digits[2 * HEADER_DIGITS], *from = digits + HEADER_DIGITS;

	/* Two digits for each division, because each answer has several numbers. */
	for (; number >= 10; number /= 100) {
		from -= 2;
		memcpy(from, pairs + 2 * (number % 100), 2);
	}
	if (number || from == digits + HEADER_DIGITS)
		*--from = (char)('0' + number);
	/* Always as many bytes, so that no function is called for it. */
	memcpy(to, from, HEADER_DIGITS);
	return to + (digits + HEADER_DIGITS - from);
}

static const char *status_text(int status)
{
	switch (status) {
	case 200: return "200 OK";
	case 206: return "206 Partial Content";
	case 301: return "301 Moved Permanently";
	case 304: return "304 Not Modified";
	case 400: return "400 Bad Request";
	case 403: return "403 Forbidden";
	case 404: return "404 Not Found";
	case 405: return "405 Method Not Allowed";
	case 408: return "408 Request Timeout";
	case 412: return "412 Precondition Failed";
	case 413: return "413 Content Too Large";
	case 414: return "414 URI Too Long";
	case 416: return "416 Range Not Satisfiable";
	case 429: return "429 Too Many Requests";
	case 431: return "431 Request Header Fields Too Large";
	case 503: return "503 Service Unavailable";
	case 505: return "505 HTTP Version Not Supported";
	default: return "500 Internal Server Error";
	}
}

char *header_begin(char *to, const struct reply *reply, const struct request *request)
{
	to = header_text(to, "HTTP/1.1 ");
	/* No function is called to copy a constant. */
	to = reply->status == 200 ? header_text(to, "200 OK") :
				    header_text(to, status_text(reply->status));
	to = mempcpy(to, common, sizeof(common) - 1);
	if (!reply->keep)
		to = header_text(to, "\r\nConnection: close");
	else if (!request->parser.http_minor)
		to = header_text(to, "\r\nConnection: keep-alive");
	return to;
}

char *header_end(char *to)
{
	return mempcpy(to, "\r\n\r\n", 4);
}

void header_status(struct reply *reply, const struct request *request, int status,
		   const char *fields)
{
	const bool has_body = !request->complete || request->parser.method != HTTP_HEAD;
	char body[64], *to = reply->buffer;
	int size;

	reply->status = status;
	size = snprintf(body, sizeof(body), "%s\n", status_text(status));
	to = header_begin(to, reply, request);
	to = header_text(to, "\r\nContent-Type: text/plain\r\nContent-Length: ");
	to = header_number(to, (uint64_t)size);
	to = header_text(to, fields);
	to = header_end(to);
	reply->start = 0;
	reply->header = (uint32_t)(to - reply->buffer);
	if (has_body)
		to = mempcpy(to, body, (size_t)size);
	reply->size = (uint32_t)(to - reply->buffer);
}

void reply_status(struct reply *reply, const struct request *request, int status)
{
	header_status(reply, request, status,
		      status == 405 ? "\r\nAllow: GET, HEAD" :
		      status == 429 || status == 503 ? "\r\nRetry-After: 1" : "");
}
