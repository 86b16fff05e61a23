// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * fuzz.c - libFuzzer on what examples/httpd does with bytes of clients.
 *
 * The first byte of an input says in which pieces the rest is received. The whole request must be
 * parsed as its pieces are, and no name may lead out of the root.
 */
#include "../../../../examples/httpd/condition.h"
#include "../../../../examples/httpd/path.h"
#include "../../../../examples/httpd/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_SIZE 1000

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

	condition_matches(text, size, etag);
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
	}
	{
		char *text = copy(data + 1, size - 1);

		check_path(text, size - 1);
		check_field(text, size - 1);
		free(text);
	}
	return 0;
}
