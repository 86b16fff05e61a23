// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * request.c - note where the parts of a request are.
 *
 * The parser calls back for each piece of a part: a part that arrives in two pieces has two
 * calls. The pieces are adjacent in the buffer.
 */
#include "request.h"

#include <string.h>
#include <strings.h>

/* Add a piece to a part. Empty pieces may be at any address. The line of a field may be continued in the next. */
static void extend(struct request *request, struct extent *part, const char *piece, size_t size)
{
	const uint32_t at = (uint32_t)(piece - request->base);

	if (!size)
		return;
	if (!part->size)
		part->at = at;
	part->size = at + (uint32_t)size - part->at;
}

static int on_url(llhttp_t *parser, const char *piece, size_t size)
{
	struct request *request = parser->data;

	extend(request, &request->target, piece, size);
	return 0;
}

static int on_header_field(llhttp_t *parser, const char *piece, size_t size)
{
	struct request *request = parser->data;

	if (request->in_value) {
		request->in_value = false;
		request->name.size = 0;
	}
	extend(request, &request->name, piece, size);
	return 0;
}

/* Return the place for a further value of a field; NULL if it is not used. */
static struct extent *repeat(struct request *request, enum request_field field)
{
	struct further *further;

	if (field != REQUEST_IF_MATCH && field != REQUEST_IF_NONE_MATCH) {
		request->repeated |= (uint16_t)(1 << field);
		return NULL;
	}
	if (request->nfurther++ >= REQUEST_FURTHER)
		return NULL;
	further = &request->further[request->nfurther - 1];
	further->field = field;
	return &further->value;
}

/* Return the place for the value of the field whose name was received. */
static struct extent *find_field(struct request *request)
{
	static const char names[REQUEST_FIELDS][20] = {
		[REQUEST_HOST] = "Host",
		[REQUEST_IF_MATCH] = "If-Match",
		[REQUEST_IF_MODIFIED_SINCE] = "If-Modified-Since",
		[REQUEST_IF_NONE_MATCH] = "If-None-Match",
		[REQUEST_IF_RANGE] = "If-Range",
		[REQUEST_IF_UNMODIFIED_SINCE] = "If-Unmodified-Since",
		[REQUEST_RANGE] = "Range",
		[REQUEST_REFERER] = "Referer",
		[REQUEST_USER_AGENT] = "User-Agent",
	};
	static const uint8_t sizes[REQUEST_FIELDS] = {
		[REQUEST_HOST] = 4,
		[REQUEST_IF_MATCH] = 8,
		[REQUEST_IF_MODIFIED_SINCE] = 17,
		[REQUEST_IF_NONE_MATCH] = 13,
		[REQUEST_IF_RANGE] = 8,
		[REQUEST_IF_UNMODIFIED_SINCE] = 19,
		[REQUEST_RANGE] = 5,
		[REQUEST_REFERER] = 7,
		[REQUEST_USER_AGENT] = 10,
	};
	const char *name = request->base + request->name.at;

	for (int i = 0; i < REQUEST_FIELDS; i++) {
		if (request->name.size != sizes[i] || strncasecmp(name, names[i], sizes[i]))
			continue;
		if (i == REQUEST_HOST && request->hosts < 2)
			request->hosts++;
		return request->fields[i].size ? repeat(request, i) : &request->fields[i];
	}
	return NULL;
}

/* Whatever its value is: the parser and a proxy may not agree on what it means, or whether it is one. */
static bool is_transfer_encoding(const char *name, size_t size)
{
	static const char field[] = "Transfer-Encoding";

	return size == sizeof(field) - 1 && !strncasecmp(name, field, size);
}

static int on_header_value(llhttp_t *parser, const char *piece, size_t size)
{
	struct request *request = parser->data;
	const char *name = request->base + request->name.at;

	if (!request->in_value) {
		/* The parser allows spaces in names, also before the colon. */
		if (memchr(name, ' ', request->name.size))
			return -1;
		request->has_body = is_transfer_encoding(name, request->name.size);
		if (request->has_body)
			return -1;
		request->in_value = true;
		request->value = find_field(request);
		if (request->nfurther > REQUEST_FURTHER)
			return -1;
	}
	if (request->value)
		extend(request, request->value, piece, size);
	return 0;
}

/* A body is not read: with an error the parser stops before it. */
static int on_headers_complete(llhttp_t *parser)
{
	struct request *request = parser->data;

	request->has_body = parser->content_length;
	return request->has_body ? -1 : 0;
}

/* The parser stops at the end of the request, so that the next one is not parsed with it. */
static int on_message_complete(llhttp_t *parser)
{
	struct request *request = parser->data;

	request->complete = true;
	return HPE_PAUSED;
}

void request_begin(struct request *request)
{
	static const llhttp_settings_t settings = {
		.on_url = on_url,
		.on_header_field = on_header_field,
		.on_header_value = on_header_value,
		.on_headers_complete = on_headers_complete,
		.on_message_complete = on_message_complete,
	};

	*request = (struct request){ .parsed = 0 };
	llhttp_init(&request->parser, HTTP_REQUEST, &settings);
	request->parser.data = request;
}

/* Test whether a Host has only bytes of a name or an address, and of a port: a proxy may read others differently. */
static bool is_host(const char *text, size_t size)
{
	/* Each request has a Host, so a byte takes one look into a table. */
	static const bool allowed[256] = {
		['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
		['-'] = true, ['.'] = true, ['_'] = true, ['~'] = true, ['%'] = true,
		['!'] = true, ['$'] = true, ['&'] = true, ['\''] = true, ['('] = true,
		[')'] = true, ['*'] = true, ['+'] = true, [','] = true, [';'] = true,
		['='] = true, [':'] = true, ['['] = true, [']'] = true,
	};

	while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	for (size_t i = 0; i < size; i++)
		if (!allowed[(unsigned char)text[i]])
			return false;
	return true;
}

/* Return the status for a request whose syntax is correct; 0 if it can be answered. */
static int check(const struct request *request)
{
	const struct extent *host = &request->fields[REQUEST_HOST], *target = &request->target;
	const llhttp_t *parser = &request->parser;

	/* The parser knows RTSP, too. After the target is one space. */
	if (parser->http_major != 1 || memcmp(request->base + target->at + target->size, " HTTP/", 6))
		return 505;
	/* A request to two hosts may be one to each for two servers. */
	if (request->hosts > 1 || (!request->hosts && parser->http_minor >= 1) ||
	    !is_host(request->base + host->at, host->size))
		return 400;
	return 0;
}

int request_parse(struct request *request, const char *base, uint32_t size)
{
	llhttp_errno_t error;

	request->base = base;
	error = llhttp_execute(&request->parser, base + request->parsed, size - request->parsed);
	request->parsed = error == HPE_OK ? size :
					    (uint32_t)(llhttp_get_error_pos(&request->parser) - base);
	if (request->complete)
		return check(request);
	if (request->has_body)
		return 413;
	if (request->nfurther > REQUEST_FURTHER)
		return 431;
	if (error == HPE_INVALID_VERSION)
		return 505;
	return error == HPE_OK ? 0 : 400;
}
