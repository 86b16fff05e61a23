/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descriptor.h - what a loop knows about descriptors, and the entries that wait for them.
 */
#ifndef COSY_LOOP_DESCRIPTOR_H
#define COSY_LOOP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "group.h"
#include "share.h"
#include "slot.h"

#define COSY_MAX_FD	(1u << 24)

/* The events that epoll always reports. */
#define COSY_EVENTS_FAILED	((uint32_t)(EPOLLERR | EPOLLHUP))

/** enum cosy_kind - how calls on a descriptor are made without blocking */
enum cosy_kind {
	COSY_KIND_UNKNOWN,
	COSY_KIND_SOCKET,	/* MSG_DONTWAIT */
	COSY_KIND_NOWAIT,	/* RWF_NOWAIT */
	COSY_KIND_PIPE,		/* RWF_NOWAIT; compounds can wait for it in the module */
	COSY_KIND_DISK,		/* RWF_NOWAIT, or a thread; cannot be polled */
};

/**
 * struct cosy_descriptor - what a loop knows about a descriptor
 * @head:     first entry of each enum cosy_list. Only the first is executed, the others wait
 * @tail:     last entry of each enum cosy_list
 * @armed:    events that epoll reports while they last
 * @changes:  events that epoll reports when they have changed; 0 unless some have lasted although
 *	      the calls would block
 * @added:    it was added to epoll
 * @receives: a call that receives from it has had to wait, so it does not fail at once, as it does
 *	      on a socket that listens
 * @opened:   the ring has opened it, so that it probably is a regular file
 * @listed:   cosy_descriptors_disarm() looks at it
 * @kind:     enum cosy_kind
 * @type:     SOCK_STREAM and so on
 * @polled:   a bit for each enum cosy_list whose calls do not support RWF_NOWAIT. Entries wait for
 *	      the event, then a thread makes the call
 */
struct cosy_descriptor {
	uint32_t head[COSY_LISTS];
	uint32_t tail[COSY_LISTS];
	uint16_t armed;
	uint16_t changes;
	bool added : 1;
	bool receives : 1;
	bool opened : 1;
	bool listed : 1;
	uint8_t kind;
	uint8_t type;
	uint8_t polled;
};

_Static_assert(sizeof(struct cosy_descriptor) == 32, "looking one up takes few instructions");

/* Descriptors of one chunk of the table. */
#define COSY_CHUNK	256u

/**
 * struct cosy_share_descriptors - what a loop knows about the descriptors of a share
 * @chunks:  the table of descriptors
 * @nchunks: its length
 */
struct cosy_share_descriptors {
	struct cosy_descriptor **chunks;
	uint32_t nchunks;
};

/**
 * struct cosy_descriptors - the descriptors of a loop
 * @epoll:	  descriptor of the epoll instance
 * @waiting:	  number of entries in lists
 * @watching:	  number of those that transfer no data
 * @nadded:	  number of descriptors that were added to @epoll
 * @slots:	  the slots of the loop
 * @chunks:	  the table of descriptors
 * @nchunks:	  its length
 * @unwanted:	  descriptors for which nothing waited any more although they were added to
 *		  @epoll
 * @nunwanted:	  their number
 * @max_unwanted: length of that array
 * @shares:	  the tables of the descriptors of shares, by the share's number; or NULL
 * @used:	  a bit for each descriptor of the table: cosy_module_use_fd()
 * @all_used:	  @used is incomplete: there was no memory, or there are other loops for the
 *		  same operations
 * @group:	  the loops that use the same descriptors, or NULL
 * @questions:	  calls that wait for answers of these
 * @member:	  number of this loop in @group, from 1
 */
struct cosy_descriptors {
	int epoll;
	uint32_t waiting;
	uint32_t watching;
	uint32_t nadded;
	struct cosy_slot *slots;
	struct cosy_descriptor **chunks;
	uint32_t nchunks;
	int *unwanted;
	uint32_t nunwanted;
	uint32_t max_unwanted;
	struct cosy_share_descriptors *shares;
	uint8_t *used;
	bool all_used;
	uint16_t member;
	struct cosy_group *group;
	struct cosy_question *questions;
};

/** cosy_descriptor() - get or add a descriptor; NULL without memory, or for an invalid number */
struct cosy_descriptor *cosy_descriptor(struct cosy_descriptors *fds, int fd);

/** cosy_descriptor_of_share() - cosy_descriptor_find() for a descriptor of a share */
struct cosy_descriptor *cosy_descriptor_of_share(const struct cosy_descriptors *fds, int fd);

/** cosy_descriptors_end() - return the end of the table that has @fd; nothing is known from there on */
uint32_t cosy_descriptors_end(const struct cosy_descriptors *fds, uint32_t fd);

/**
 * cosy_descriptors_next() - find the first descriptor of a range about which something may be known
 * @fd:   the first number of the range; set to that of the descriptor
 * @last: the last one
 *
 * Takes one step for each chunk of the table that has no descriptors.
 *
 * Return: the descriptor; NULL if there is none, and then @fd is undefined.
 */
struct cosy_descriptor *cosy_descriptors_next(const struct cosy_descriptors *fds, uint32_t *fd,
					      uint32_t last);

/** cosy_descriptor_find() - look up a descriptor; NULL if nothing is known about it */
static inline struct cosy_descriptor *
cosy_descriptor_find(const struct cosy_descriptors *fds, int fd)
{
	/* For a negative @fd this is larger than any chunk. */
	uint32_t chunk = (uint32_t)fd / COSY_CHUNK;

	if (chunk >= fds->nchunks || !fds->chunks[chunk])
		return cosy_is_of_share(fd) ? cosy_descriptor_of_share(fds, fd) : NULL;
	return &fds->chunks[chunk][(uint32_t)fd % COSY_CHUNK];
}

/** cosy_group_has_noted() - return true if this loop has noted a descriptor below COSY_MAX_FD */
static COSY_ALWAYS_INLINE bool cosy_group_has_noted(const struct cosy_descriptors *fds, uint32_t fd)
{
	return cosy_submit_has_noted(fds->group->known, fd, fds->member);
}

/** cosy_descriptor_learned() - note for other loops that this one knows a descriptor */
static inline void cosy_descriptor_learned(struct cosy_descriptors *fds, int fd)
{
	if (COSY_UNLIKELY(fds->group != NULL) && !cosy_is_of_share(fd) &&
	    !cosy_group_has_noted(fds, (uint32_t)fd))
		cosy_group_note(fds, fd);
}

/** cosy_descriptor_submits() - the same for all that a call has that is submitted, if it has any */
static COSY_ALWAYS_INLINE void cosy_descriptor_submits(struct cosy_descriptors *fds, long nr,
						       const uint64_t args[6])
{
	if (COSY_UNLIKELY(fds->group != NULL) &&
	    ((uint32_t)args[0] >= COSY_MAX_FD || !cosy_group_has_noted(fds, (uint32_t)args[0]) ||
	     cosy_takes_fds(nr)))
		cosy_group_note_call(fds, nr, args);
}

/** cosy_descriptor_set_added() - note whether epoll has a descriptor */
static inline void cosy_descriptor_set_added(struct cosy_descriptors *fds,
					     struct cosy_descriptor *d, bool added)
{
	fds->nadded += added;
	fds->nadded -= d->added;
	d->added = added;
}

/** cosy_socket_option() - an option of a socket that is an int; 0 if it cannot be read */
int cosy_socket_option(int fd, int option);

/** cosy_descriptor_look() - determine the kind of a descriptor; -EBADF if it is not open */
int cosy_descriptor_look(struct cosy_descriptor *d, int fd);

/** cosy_descriptor_append() - add an entry to the end of the list that slot->list names */
void cosy_descriptor_append(struct cosy_descriptors *fds, uint32_t slot);

/** cosy_descriptor_remove() - remove an entry from its list */
void cosy_descriptor_remove(struct cosy_descriptors *fds, uint32_t slot);

/**
 * cosy_descriptor_arm() - let epoll report the events for which a descriptor's entries wait
 *
 * Return: 0; -EPERM if an entry reads or writes, and the descriptor cannot be polled; another
 * error.
 */
int cosy_descriptor_arm(struct cosy_descriptors *fds, int fd);

/** cosy_descriptor_wanted() - return the events for which entries wait */
uint32_t cosy_descriptor_wanted(const struct cosy_descriptors *fds,
				const struct cosy_descriptor *d);

/** cosy_descriptor_disarm() - let epoll report only the events for which entries wait */
void cosy_descriptor_disarm(struct cosy_descriptors *fds, struct cosy_descriptor *d, int fd);

/**
 * cosy_descriptors_disarm() - let epoll report no descriptor for which nothing waits
 *
 * It usually goes on, for the next entry. But what is received in the ring never lets an entry
 * wait, and each byte for it would wake the thread for epoll.
 */
void cosy_descriptors_disarm(struct cosy_descriptors *fds);

/**
 * cosy_descriptor_is_stale() - test whether what waits for a descriptor waits for an earlier file
 * @fd: a descriptor that is in the table
 *
 * Return: true if epoll has a file with that number, and the number does not refer to it any more.
 */
bool cosy_descriptor_is_stale(struct cosy_descriptors *fds, int fd);

/** cosy_module_use_fd() - note a use for cosy_module_use_fd(). Return: true if it is the first */
bool cosy_descriptor_use(struct cosy_descriptors *fds, int fd);

/**
 * cosy_descriptor_leave() - let epoll report nothing of a file any more that is closed now
 *
 * Needs no lock. Otherwise epoll would report it for ever if it has another descriptor.
 */
void cosy_descriptor_leave(const struct cosy_descriptors *fds, int fd);

/** cosy_descriptor_forget() - remove a descriptor, for which nothing waits, also from epoll */
void cosy_descriptor_forget(struct cosy_descriptors *fds, int fd);

/**
 * cosy_descriptors_create() - allocate the map of used descriptors
 * @slots: the slots of the loop
 *
 * Return: 0 or -ENOMEM.
 */
int cosy_descriptors_create(struct cosy_descriptors *fds, struct cosy_slot *slots);

/** cosy_descriptors_destroy() - free the table */
void cosy_descriptors_destroy(struct cosy_descriptors *fds);

#endif /* COSY_LOOP_DESCRIPTOR_H */
