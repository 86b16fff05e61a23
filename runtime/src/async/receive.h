/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * receive.h - receives that take a buffer when there is something to receive.
 */
#ifndef COSY_LOOP_RECEIVE_H
#define COSY_LOOP_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>

struct cosy_loop;

/**
 * cosy_receive_again() - submit a receive that the ring does not make to the loop's page
 * @op:	    its operation
 * @fd:	    its descriptor
 * @waited: it has waited
 */
void cosy_receive_again(struct cosy_loop *loop, struct cosy_async *op, uint64_t fd, bool waited);

/**
 * cosy_receive_ready() - receive, after the call of a slot with COSY_INTO_BUFFER has ended
 * @slot:   the slot; in no list
 * @result: result of the call
 *
 * Completes the slot, or submits the call again if another reader was faster.
 */
void cosy_receive_ready(struct cosy_loop *loop, uint32_t slot, int64_t result);

#endif /* COSY_LOOP_RECEIVE_H */
