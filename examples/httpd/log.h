/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log.h - the access log, in the "combined" format of other servers.
 */
#ifndef LOG_H
#define LOG_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "incoming.h"

/** log_to() - write lines to @fd from now on; -1: none */
void log_to(int fd);

/** log_time() - the time of lines from now on */
void log_time(time_t now);

/**
 * log_request() - add a line; it is written by log_flush(), or when many have been added
 * @client:  the client's address
 * @request: the request, which may be incomplete
 * @base:    its first byte
 * @status:  of the answer
 * @size:    bytes of the answer that were sent, without the header
 */
void log_request(const char *client, const struct request *request, const char *base, int status,
		 int64_t size);

/**
 * log_stuck() - write a message, in a handler of a signal
 * @client: the address of the client whose request is answered
 * @in:	    what it has sent; NULL: it may just be changing
 */
void log_stuck(const char *client, const struct incoming *in);

/** log_flush() - write the lines; a message says if lines are lost */
void log_flush(void);

#endif /* LOG_H */
