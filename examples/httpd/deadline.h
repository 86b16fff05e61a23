/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * deadline.h - what a connection may wait for, and how long.
 *
 * All connections that wait for the same thing have the same time for it. So a list of each kind
 * is ordered by time, and nothing is searched.
 */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <stdint.h>

/* What a connection waits for. */
enum deadline_kind {
	DEADLINE_NEW,	 /* the first byte of its first request */
	DEADLINE_IDLE,	 /* the first byte of another request */
	DEADLINE_HEADER, /* the rest of a header */
	DEADLINE_SEND,	 /* the client to take something */
	DEADLINE_LINGER, /* the client to notice that the connection is closed */
	DEADLINE_KINDS
};

/**
 * struct deadline - an element of a list
 * @previous: the one before, or the list
 * @next:     the one after, or the list
 * @since:    when it was added, in seconds
 * @kind:     its list
 */
struct deadline {
	struct deadline *previous, *next;
	uint32_t since;
	enum deadline_kind kind;
};

/** deadline_init() - make the lists */
void deadline_init(void);

/** deadline_set() - add @deadline to a list, at @now; it is in no list, or moves from another one */
void deadline_set(struct deadline *deadline, enum deadline_kind kind, uint32_t now);

/** deadline_clear() - remove @deadline from its list, if it is in one */
void deadline_clear(struct deadline *deadline);

/**
 * deadline_expire() - call back for the elements that were added at @before or earlier
 * @kind:    of which list
 * @before:  the time
 * @expired: called for each; it is in no list then
 */
void deadline_expire(enum deadline_kind kind, uint32_t before,
		     void (*expired)(struct deadline *deadline));

#endif /* DEADLINE_H */
