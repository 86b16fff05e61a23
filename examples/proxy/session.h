/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * session.h - a client and its connection to the server, and what passes between them.
 *
 * A session has a buffer for each direction. It receives into a buffer only after all of
 * it was sent: who does not take makes the other side wait, and memory is bounded.
 */
#ifndef SESSION_H
#define SESSION_H

#include "../common/address.h"

#include <cosy/async.h>
#include <stdint.h>
#include <time.h>

enum { SESSION_BUFFER = 64 * 1024 };

/**
 * struct sessions - what all sessions share
 * @loop:     executes their operations
 * @upstream: the server
 * @idle:     a session ends if nothing passes for so long
 * @count:    sessions so far
 * @bytes:    that have passed, in both directions
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
 * @client:   the client's descriptor, which is the session's from now on
 *
 * A session that fails resets the client's connection; what went wrong with the server
 * is printed.
 */
void session_start(struct sessions *sessions, int client);

#endif /* SESSION_H */
