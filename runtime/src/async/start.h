/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.h - how an entry is executed.
 */
#ifndef COSY_LOOP_START_H
#define COSY_LOOP_START_H

#include <stdbool.h>
#include <stdint.h>

struct cosy_attempt;
struct cosy_loop;
struct cosy_question;
struct cosy_slot;

/** cosy_start() - begin with an entry that was taken from the ring */
void cosy_start(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_waited() - let an entry, which is in no ring, wait for its descriptor as before */
void cosy_start_waited(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_sent() - begin with a send of which @sent bytes were sent */
void cosy_start_sent(struct cosy_loop *loop, uint32_t slot, uint32_t sent);

/** cosy_read_by_thread() - let a thread make the call of a buffered entry */
void cosy_read_by_thread(struct cosy_loop *loop, uint32_t slot);

/** cosy_attempted() - continue an entry after its attempt */
void cosy_attempted(struct cosy_loop *loop, const struct cosy_attempt *attempt);

/** cosy_start_again() - continue an entry after a short time, without an event */
void cosy_start_again(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_ready() - continue the entry at the head of a list after epoll has reported events */
void cosy_start_ready(struct cosy_loop *loop, uint32_t slot, uint32_t events);

/**
 * cosy_start_next() - begin with the new head of a list
 * @before: copy of the slot of the previous head, from before its removal
 */
void cosy_start_next(struct cosy_loop *loop, const struct cosy_slot *before);

/** cosy_close_answered() - another loop has answered; after the last answer, make the call. Takes the lock */
void cosy_close_answered(struct cosy_loop *loop, struct cosy_question *question);

/** cosy_thread_made() - finish an entry in the thread that has made its call */
void cosy_thread_made(struct cosy_loop *loop, uint32_t slot, int64_t result);

/** cosy_end() - remove an entry from its list, and complete it; begin with no other entry */
void cosy_end(struct cosy_loop *loop, uint32_t slot, int64_t result);

#endif /* COSY_LOOP_START_H */
