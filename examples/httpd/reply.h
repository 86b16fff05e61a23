/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reply.h - answers: the header, and the contents of small files behind it in one buffer.
 */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "request.h"

#define REPLY_HEADER 640	/* Bytes before the contents; no header of a file is longer. */
#define REPLY_SMALL (16 * 1024) /* Files of at most this size are sent with the header. */

/**
 * struct reply - an answer
 * @next:   in the list of unused ones
 * @start:  offset of the first byte to be sent in @buffer
 * @size:   bytes to be sent from @buffer
 * @header: bytes of these that are the header
 * @status: its status
 * @file:   descriptor of a file to be sent after @buffer, or -1
 * @at:	    what is to be sent of it
 * @end:    after its last byte
 * @body:   bytes without the header that were sent
 * @keep:   the connection is kept after it
 * @buffer: header and contents
 */
struct reply {
	struct reply *next;
	uint32_t start, size, header;
	int status, file;
	off_t at, end;
	int64_t body;
	bool keep;
	char buffer[REPLY_HEADER + REPLY_SMALL];
};

/** reply_new() - take an unused reply; NULL if there is no memory */
struct reply *reply_new(void);

/** reply_release() - close its file and keep its memory for another one */
void reply_release(struct reply *reply);

/** reply_date() - the time that answers have from now on */
void reply_date(time_t now);

/**
 * reply_answer() - answer a complete request
 * @reply:   the answer; @reply->keep is true if the connection may be kept
 * @request: the request
 * @base:    its first byte
 */
void reply_answer(struct reply *reply, const struct request *request, const char *base);

/** reply_status() - answer with a status alone; @reply->keep as above */
void reply_status(struct reply *reply, const struct request *request, int status);

#endif /* REPLY_H */
