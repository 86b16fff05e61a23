// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * incoming.c - memory for requests.
 */
#include "incoming.h"

#include <stdlib.h>
#include <string.h>

#define STEP 2048u
#define UNUSED_MAX 128 /* As many are in use at a time in a server that is not overloaded. */

/* Unused ones. malloc() keeps fewer where they can be taken quickly. */
static struct incoming *unused;
static unsigned int unused_count;

struct incoming *incoming_new(void)
{
	struct incoming *in = unused;

	if (in) {
		unused = in->next;
		unused_count--;
	} else {
		in = malloc(sizeof(*in));
		if (!in)
			return NULL;
	}
	request_begin(&in->request);
	in->bytes = in->first;
	in->have = 0;
	in->room = sizeof(in->first);
	return in;
}

void incoming_release(struct incoming *in)
{
	if (!in)
		return;
	if (in->bytes != in->first)
		free(in->bytes);
	if (unused_count == UNUSED_MAX) {
		free(in);
		return;
	}
	unused_count++;
	in->next = unused;
	unused = in;
}

static bool grow(struct incoming *in, uint32_t room)
{
	char *bytes = realloc(in->bytes == in->first ? NULL : in->bytes, room);

	if (!bytes)
		return false;
	if (in->bytes == in->first)
		memcpy(bytes, in->first, in->have);
	in->bytes = bytes;
	in->room = room;
	return true;
}

bool incoming_add(struct incoming *in, const char *bytes, uint32_t size)
{
	/* Small pieces do not move the bytes each time. */
	if (size > in->room - in->have && !grow(in, (in->have + size + STEP - 1) / STEP * STEP))
		return false;
	memcpy(in->bytes + in->have, bytes, size);
	in->have += size;
	return true;
}

int incoming_parse(struct incoming *in, uint32_t limit)
{
	int status = request_parse(&in->request, in->bytes, in->have < limit ? in->have : limit);

	return status || in->request.complete || in->have < limit ? status : 431;
}

bool incoming_next(struct incoming *in)
{
	const char *rest = in->bytes + in->request.parsed;

	in->have -= in->request.parsed;
	if (!in->have)
		return false;
	if (in->bytes != in->first && in->have <= sizeof(in->first)) {
		memcpy(in->first, rest, in->have);
		free(in->bytes);
		in->bytes = in->first;
		in->room = sizeof(in->first);
	} else {
		memmove(in->bytes, rest, in->have);
	}
	request_begin(&in->request);
	return true;
}
