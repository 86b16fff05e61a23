// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * fuzz.c - libFuzzer on what examples/httpd does with bytes of clients.
 *
 * The first byte of an input says in which pieces the rest is received. The whole request must be
 * parsed as its pieces are, also if other requests follow it, and no name may lead out of the root.
 */
#include "../../../../examples/httpd/condition.h"
#include "../../../../examples/httpd/incoming.h"
#include "../../../../examples/httpd/path.h"
#include "../../../../examples/httpd/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_SIZE 1000
#define LIMIT	  1500 /* Bytes of a header. */

static void claim(int condition)
{
	if (!condition)
		abort();
}

static void check_path(const char *target, size_t size)
{
	char path[PATH_ROOM];
	const char *end;

	memset(path, 'x', sizeof(path));
	if (path_from_target(target, size, path))
		return;
	claim(memchr(path, 0, sizeof(path)) != NULL && *path != '/');
	for (const char *at = path; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '/');
		claim(end > at);
		claim(*at != '.' || (end - at == 11 && !memcmp(at, ".well-known", 11)));
	}
}

static void check_field(const char *text, size_t size)
{
	const char etag[] = "\"1-2-3\"";
	int64_t first, end;

	condition_matches(text, size, etag, false);
	condition_matches(text, size, etag, true);
	condition_modified(text, size, 1000000000);
	condition_same(text, size, etag, 1000000000);
	condition_not_modified(text, size, 1000000000);
	if (condition_range(text, size, FILE_SIZE, &first, &end) == CONDITION_PART)
		claim(first >= 0 && first < end && end <= FILE_SIZE);
	claim(condition_range(text, size, 0, &first, &end) != CONDITION_PART);
}

/* Memory of the exact size, so that no byte after the text may be read. */
static char *copy(const void *text, size_t size)
{
	char *memory = malloc(size ? size : 1);

	claim(memory != NULL);
	return memcpy(memory, text, size);
}

/* Parse @size bytes that arrive in pieces of @piece bytes, each time at another address. */
static int parse(struct request *request, const uint8_t *data, uint32_t size, uint32_t piece)
{
	uint32_t have = 0;
	int status = 0;

	request_begin(request);
	while (!status && !request->complete && have < size) {
		char *buffer;

		have = size - have < piece ? size : have + piece;
		buffer = copy(data, have);
		status = request_parse(request, buffer, have);
		free(buffer);
	}
	return status;
}

/* A request is complete. Return how many bytes it has, after it was removed. */
static uint32_t next(struct incoming **in, const uint8_t *data, uint32_t have)
{
	const uint32_t parsed = (*in)->request.parsed;
	struct request alone;

	claim((*in)->have == have && !memcmp((*in)->bytes, data, have));
	claim(!parse(&alone, data, parsed, parsed) && alone.complete && alone.parsed == parsed);
	claim(!memcmp(alone.fields, (*in)->request.fields, sizeof(alone.fields)));
	claim(incoming_has_next(*in) == (have > parsed));
	if (!incoming_next(*in)) {
		claim(have == parsed);
		incoming_release(*in);
		*in = NULL;
	}
	return parsed;
}

/* Receive requests that follow each other as a connection does, in pieces of @piece bytes. */
static void check_incoming(const uint8_t *data, uint32_t size, uint32_t piece)
{
	struct incoming *in = NULL;
	uint32_t from = 0, have = 0;
	int status = 0;

	while (!status && from + have < size) {
		const uint32_t rest = size - from - have, n = rest < piece ? rest : piece;

		if (!in)
			in = incoming_new();
		claim(in && incoming_add(in, (const char *)data + from + have, n));
		have += n;
		status = incoming_parse(in, LIMIT);
		while (!status && in && in->request.complete) {
			const uint32_t parsed = next(&in, data + from, have);

			from += parsed;
			have -= parsed;
			status = in ? incoming_parse(in, LIMIT) : 0;
		}
		claim(status || have < LIMIT);
		claim((in ? in->have : 0) == have && (!in || !memcmp(in->bytes, data + from, have)));
	}
	incoming_release(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request whole, pieces;
	int status;

	if (size < 2 || size > 65536)
		return 0;
	status = parse(&whole, data + 1, (uint32_t)size - 1, (uint32_t)size);
	claim(status == parse(&pieces, data + 1, (uint32_t)size - 1, data[0] + 1U));
	claim(status || whole.complete == pieces.complete);
	if (!status && whole.complete) {
		claim(whole.parsed == pieces.parsed && whole.parsed <= size - 1);
		claim(!memcmp(whole.fields, pieces.fields, sizeof(whole.fields)));
		claim(whole.target.at == pieces.target.at && whole.target.size == pieces.target.size);
		for (int i = 0; i < REQUEST_FIELDS; i++)
			claim(whole.fields[i].at + whole.fields[i].size <= whole.parsed);
		for (int i = 0; i < whole.nfurther; i++)
			claim(whole.further[i].value.at + whole.further[i].value.size <= whole.parsed);
	}
	check_incoming(data + 1, (uint32_t)size - 1, data[0] + 1U);
	{
		char *text = copy(data + 1, size - 1);

		check_path(text, size - 1);
		check_field(text, size - 1);
		free(text);
	}
	return 0;
}
