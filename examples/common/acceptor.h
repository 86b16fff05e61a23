/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * acceptor.h - accept connections by operations of cosy-async(7), several at once.
 *
 * If there is no descriptor for a connection, accept(2) is tried again after a pause. Ends
 * the program with a message and status 1 if the socket cannot accept.
 */
#ifndef ACCEPTOR_H
#define ACCEPTOR_H

#include <cosy/async.h>
#include <stdbool.h>

/* Connections accepted at once, and ms until accept(2) is tried again. */
enum { ACCEPTOR_OPERATIONS = 16, ACCEPTOR_PAUSE = 100 };

/** acceptor_can_retry() - test whether accept(2) may succeed later, after @error */
bool acceptor_can_retry(int error);

/**
 * struct acceptor - a socket that accepts
 * @loop:     executes the operations
 * @listener: the socket
 * @accepted: called with each connection, a descriptor that is close-on-exec; closes it if its operation is
 *	      rejected, because the loop has no entry
 * @ops:      initially zero; they complete when the loop is destroyed
 */
struct acceptor {
	struct cosy_loop *loop;
	int listener;
	void (*accepted)(int fd);
	struct cosy_async ops[ACCEPTOR_OPERATIONS];
};

/** acceptor_start() - start accepting; sets O_NONBLOCK. The structure must exist until the loop is destroyed */
void acceptor_start(struct acceptor *acceptor);

#endif /* ACCEPTOR_H */
