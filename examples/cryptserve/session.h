/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * session.h - the connection of a client that gets a file.
 */
#ifndef SESSION_H
#define SESSION_H

#include <cosy/team.h>
#include <sodium.h>
#include <stdatomic.h>

/**
 * struct sessions - what all sessions use; sessions run in several threads
 * @team:	runs the callbacks
 * @root:	directory of the files
 * @request_time: in which a client sends its request
 * @answer_time: the rest of the maximum time of a session
 * @maximum:	the maximum number of sessions at once
 * @public_key: of the server
 * @secret_key: the same
 * @current:	number of sessions
 * @served:	files that were sent
 */
struct sessions {
	struct cosy_team *team;
	int root;
	struct timespec request_time, answer_time;
	unsigned int maximum;
	unsigned char public_key[crypto_kx_PUBLICKEYBYTES];
	unsigned char secret_key[crypto_kx_SECRETKEYBYTES];
	atomic_uint current;
	atomic_ulong served;
};

/** session_start() - serve a client; @fd is closed when it has its file, or if that fails */
void session_start(struct sessions *sessions, int fd);

#endif /* SESSION_H */
