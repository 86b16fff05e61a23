/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reply.h - a send and a receive that are one operation.
 */
#ifndef COSY_LOOP_REPLY_H
#define COSY_LOOP_REPLY_H

#include <stdint.h>

#include <cosy/async.h>

struct cosy_loop;

/**
 * cosy_reply_sent() - continue a reply, whose send has ended
 * @slot: the send; in no list
 */
void cosy_reply_sent(struct cosy_loop *loop, uint32_t slot, int64_t result);

/**
 * cosy_reply_submit() - submit a reply to the loop's page, which has two free slots
 * @op:	     its operation, in the ring no longer
 * @send:    arguments of its sendto()
 * @sent:    number of bytes that were sent, or the error with which the send has failed
 * @receive: arguments of its recvfrom()
 */
void cosy_reply_submit(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
		       int32_t sent, const uint64_t receive[6]);

#endif /* COSY_LOOP_REPLY_H */
