/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * session.h - a client, its connection to the server, and the data between them.
 *
 * A session has a buffer for each direction. It receives into a buffer only after all of
 * its data was sent. So a slow reader stops the other side, and memory is bounded.
 */
#ifndef SESSION_H
#define SESSION_H

#include "../common/address.h"

#include <cosy/async.h>
#include <stdint.h>
#include <time.h>

enum { SESSION_BUFFER = 64 * 1024 };

/**
 * struct sessions - the common data of all sessions
 * @loop:     executes their operations
 * @upstream: the server
 * @idle:     a session ends if no data is transferred for this time
 * @count:    number of sessions
 * @bytes:    number of bytes forwarded, in both directions
 */
struct sessions {
	struct cosy_loop *loop;
	struct address upstream;
	struct timespec idle;
	uint64_t count, bytes;
};

/**
 * session_start() - connect a client with the server
 * @sessions: must stay until the loop is destroyed
 * @client:   the client's descriptor, which the session owns from now on
 *
 * A session that fails resets the client's connection. Errors of the server are printed.
 */
void session_start(struct sessions *sessions, int client);

#endif /* SESSION_H */
