/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * worker.h - a process that serves connections, with a loop of its own.
 */
#ifndef WORKER_H
#define WORKER_H

#include <cosy/async.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct worker - the state of the process
 * @loop:	 its loop
 * @now:	 the time in seconds, of CLOCK_MONOTONIC; at most a second and a callback old
 * @connections: their number
 * @draining:	 each connection ends after the request that it is sending
 */
struct worker {
	struct cosy_loop *loop;
	uint32_t now;
	unsigned int connections;
	bool draining;
};

extern struct worker worker;

/**
 * struct worker_files - what a worker takes from the process that starts it
 * @listeners: sockets
 * @count:     their number
 * @root:      directory of the files
 * @log:       the access log, or -1
 * @ready:     a pipe; its process number says that the worker serves
 */
struct worker_files {
	const int *listeners;
	unsigned int count;
	int root, log, ready;
};

/** worker_run() - serve until SIGTERM, and exit; SIGTERM and SIGINT are blocked */
_Noreturn void worker_run(const struct worker_files *files);

/** worker_connected() - count a connection; false if there are as many as allowed already */
bool worker_connected(void);

/** worker_disconnected() - count a connection that has ended, and accept another one */
void worker_disconnected(void);

/** worker_end_if_idle() - end the process if it drains, and nothing is left to be done */
void worker_end_if_idle(void);

#endif /* WORKER_H */
