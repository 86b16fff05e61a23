/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * group.h - loops that use the same descriptors tell each other when one closes a descriptor.
 */
#ifndef COSY_LOOP_GROUP_H
#define COSY_LOOP_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>

struct cosy_descriptors;

/* In @known of a group: more than one loop knows the descriptor. */
#define COSY_KNOWN_BY_SEVERAL	COSY_SUBMIT_SEVERAL

/**
 * struct cosy_question - a call that closes descriptors waits until other loops have answered
 * @next:	the next one of the loop
 * @slot:	the slot of the call; COSY_NO_SLOT: it was cancelled
 * @unanswered:	number of loops, times descriptors
 */
struct cosy_question {
	struct cosy_question *next;
	uint32_t slot;
	uint32_t unanswered;
};

/**
 * struct cosy_group - loops that use the same descriptors, one after the other
 * @known: for each descriptor, the member that knows something about it, or to which a call on it was
 *	   submitted; 0: none; COSY_KNOWN_BY_SEVERAL. A member that has forgotten it may still be named
 * @end:   descriptors that are known are below
 * @tell:  let a member, or all others than @by if @known is COSY_KNOWN_BY_SEVERAL, forget a descriptor.
 *	   With a question, a member for which cosy_loop_is_used() cancels what it has submitted for the
 *	   descriptor, by cosy_fd_closes(), and then has the loop @by call cosy_close_answered(). All
 *	   others do so by cosy_fd_forget(), before an entry begins there that is submitted from now on.
 *	   Called with the lock of the loop @by. Returns the number of answers to wait for
 *
 * A loop remembers the kind of a descriptor, and that epoll has it. If another loop closes the
 * descriptor, that is wrong for the next file with the same number. Where one loop uses a
 * descriptor and closes it, no other loop is told.
 */
struct cosy_group {
	uint16_t *known;
	uint32_t end;
	uint32_t (*tell)(struct cosy_group *group, uint16_t by, uint16_t known, int fd,
			 struct cosy_question *question);
};

/** cosy_group_create() - allocate the table of a group; returns 0 or -ENOMEM */
int cosy_group_create(struct cosy_group *group);

/** cosy_group_destroy() - free it */
void cosy_group_destroy(struct cosy_group *group);

/** cosy_group_note() - note that a loop of a group knows a descriptor, which has a place in its table */
void cosy_group_note(struct cosy_descriptors *fds, int fd);

/** cosy_group_note_call() - the same for the descriptors of a call that is submitted */
void cosy_group_note_call(struct cosy_descriptors *fds, long nr, const uint64_t args[6]);

/** cosy_group_is_known() - test whether another loop of a group knows one of these descriptors */
bool cosy_group_is_known(const struct cosy_descriptors *fds, uint32_t first, uint32_t last);

/**
 * cosy_group_closes() - let the other loops of a group forget descriptors, which this loop closes
 * @question: for the call that closes them; or NULL: it does not wait
 *
 * Return: the number of answers for which the call has to wait.
 */
uint32_t cosy_group_closes(struct cosy_descriptors *fds, uint32_t first, uint32_t last,
			   struct cosy_question *question);

/** cosy_question_drop() - a call does not wait for answers any more */
void cosy_question_drop(const struct cosy_descriptors *fds, uint32_t slot);

/** cosy_question_end() - free a question */
void cosy_question_end(struct cosy_descriptors *fds, struct cosy_question *question);

#endif /* COSY_LOOP_GROUP_H */
