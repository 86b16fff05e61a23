/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * incoming.h - what was received of a request, and of those behind it.
 *
 * An idle connection has none. It is made from the first bytes of a request, which were received
 * into a buffer of the loop, and released after the answer, so that no client keeps such a buffer.
 */
#ifndef INCOMING_H
#define INCOMING_H

#include <stdbool.h>
#include <stdint.h>

#include "request.h"

/**
 * struct incoming - what was received and is not answered
 * @next:    in the list of unused ones
 * @request: the first request
 * @bytes:   what was received: @first, or allocated
 * @have:    how many
 * @room:    how many there may be
 * @first:   for requests of usual size
 */
struct incoming {
	struct incoming *next;
	struct request request;
	char *bytes;
	uint32_t have, room;
	char first[512];
};

/** incoming_new() - begin with no bytes; NULL if there is no memory */
struct incoming *incoming_new(void);

/** incoming_release() - keep or free the memory of @in, which may be NULL */
void incoming_release(struct incoming *in);

/**
 * incoming_add() - append what was received; the first request is not complete
 *
 * Return: false if there is no memory.
 */
bool incoming_add(struct incoming *in, const char *bytes, uint32_t size);

/**
 * incoming_parse() - parse what was received of the first request
 * @in:	   what was received
 * @limit: the size of the longest header that is allowed
 *
 * Return: as request_parse().
 */
int incoming_parse(struct incoming *in, uint32_t limit);

/**
 * incoming_next() - remove the first request, which is complete
 *
 * Return: false if nothing is left; then @in can only be released.
 */
bool incoming_next(struct incoming *in);

/** incoming_has_next() - test whether something was received behind the first request */
static inline bool incoming_has_next(const struct incoming *in)
{
	return in->have > in->request.parsed;
}

#endif /* INCOMING_H */
