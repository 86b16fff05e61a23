/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * request.h - a request: where its parts are in what was received. llhttp parses it.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <llhttp.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct extent - a part of what was received
 * @at:	  offset from the first byte of the request
 * @size: bytes
 */
struct extent {
	uint32_t at, size;
};

/* The fields of a header that the server uses. */
enum request_field {
	REQUEST_HOST, REQUEST_IF_MATCH, REQUEST_IF_MODIFIED_SINCE, REQUEST_IF_NONE_MATCH,
	REQUEST_IF_RANGE, REQUEST_IF_UNMODIFIED_SINCE, REQUEST_RANGE, REQUEST_REFERER,
	REQUEST_USER_AGENT, REQUEST_FIELDS
};

/* Fields that continue the list of an earlier one. */
#define REQUEST_FURTHER 4

struct further {
	enum request_field field;
	struct extent value;
};

/**
 * struct request - a request that is being received, or is complete
 * @parser:   state of llhttp
 * @base:     first byte of the request; during request_parse() only
 * @parsed:   bytes that were parsed; of a complete request, its size
 * @target:   what the method is applied to
 * @fields:   values; the first one if a field is repeated; size 0 if there is none
 * @further:  other values of the lists If-Match and If-None-Match
 * @nfurther: their number; more than REQUEST_FURTHER are refused
 * @repeated: bits of the other fields that are repeated, and thus not valid
 * @name:     of the field that is being received
 * @value:    its value, or NULL if it is not used
 * @in_value: the value is being received
 * @hosts:    number of fields "Host"
 * @complete: the whole header was received
 * @has_body: the request has a body, or may have one; it is not read
 */
struct request {
	llhttp_t parser;
	const char *base;
	uint32_t parsed;
	struct extent target, fields[REQUEST_FIELDS], name, *value;
	struct further further[REQUEST_FURTHER];
	uint16_t repeated;
	uint8_t hosts, nfurther;
	bool in_value, complete, has_body;
};

/** request_begin() - prepare for the first byte of a request */
void request_begin(struct request *request);

/**
 * request_parse() - parse what was received of a request
 * @request: the request
 * @base:    its first byte; the buffer may move between calls
 * @size:    all bytes that were received from @base on
 *
 * Return: 0: @request->complete tells whether it is complete; otherwise the status of the
 * answer, after which the connection has to be closed.
 */
int request_parse(struct request *request, const char *base, uint32_t size);

#endif /* REQUEST_H */
