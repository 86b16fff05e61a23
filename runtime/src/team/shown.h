/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shown.h - what a team shows to cosy stat: counts in a file without a name, which the team maps.
 *
 * A worker writes to a line of its own after each turn. Nothing reads it in the process. After fork()
 * the child has the mapping, too, but no workers.
 */
#ifndef COSY_TEAM_SHOWN_H
#define COSY_TEAM_SHOWN_H

#include <stdint.h>

#define TEAM_SHOWN_NAME		"cosy-team"
#define TEAM_SHOWN_MAGIC	0x6d616574u
/* Changes with the structures. */
#define TEAM_SHOWN_VERSION	1u
/* The maximum number of workers, COSY_TEAM_MAX. */
#define TEAM_SHOWN_MAX		256u

/**
 * struct team_shown_worker - a worker
 * @colour: of its last turn
 * @since:  when it has ended its last turn, or was woken, by the time-stamp counter; 0: it sleeps
 * @ran:    callbacks that it has run
 * @stolen: colours that it has stolen
 * @sent:   colours that it has put into queues of others
 * @dropped: calls that it has dropped
 * @oldest_ms: longest time that a call was queued
 * @queued: colours in its queue, a millisecond ago or less
 * @thread: the thread's number; 0: it was never started
 */
struct team_shown_worker {
	uint64_t colour;
	uint64_t since;
	uint64_t ran;
	uint64_t stolen;
	uint64_t sent;
	uint64_t dropped;
	uint64_t oldest_ms;
	uint32_t queued;
	int32_t thread;
} __attribute__((aligned(64)));

/**
 * struct team_shown - the contents of the file
 * @magic:   TEAM_SHOWN_MAGIC
 * @version: TEAM_SHOWN_VERSION
 * @process: the process that has made the team
 * @workers: number of workers that take colours
 * @worker:  all workers
 */
struct team_shown {
	uint32_t magic;
	uint32_t version;
	int32_t process;
	uint32_t workers;
	struct team_shown_worker worker[TEAM_SHOWN_MAX];
};

#endif /* COSY_TEAM_SHOWN_H */
