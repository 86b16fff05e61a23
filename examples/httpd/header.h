/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * header.h - write the header of an answer, or a line of the log. Each function returns the end of what it
 * has written.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "reply.h"

/** header_text() - write a text without its end; inline, because most sizes are constants */
static inline char *header_text(char *to, const char *text)
{
	return mempcpy(to, text, strlen(text));
}

/** HEADER_DIGITS - digits of the largest number */
#define HEADER_DIGITS 20

/** header_number() - write a number, in decimal; there has to be room for HEADER_DIGITS bytes */
char *header_number(char *to, uint64_t number);

/** header_date() - the time that answers have */
time_t header_date(void);

/** header_begin() - write the fields that all answers have; the last one has no end of line */
char *header_begin(char *to, const struct reply *reply, const struct request *request);

/** header_end() - end the last field, and the header */
char *header_end(char *to);

/**
 * header_status() - make an answer of a status, with the status as text
 * @reply:   the answer
 * @request: the request
 * @status:  the status
 * @fields:  more fields, each with "\r\n" before it; at most REPLY_SMALL bytes
 */
void header_status(struct reply *reply, const struct request *request, int status,
		   const char *fields);

#endif /* HEADER_H */
