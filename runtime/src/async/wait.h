/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wait.h - lets threads wait: they execute submitted entries and deliver completions.
 */
#ifndef COSY_LOOP_WAIT_H
#define COSY_LOOP_WAIT_H

#include <stdbool.h>

#include <cosy/async.h>

#include "complete.h"
#include "loop.h"

/**
 * cosy_page_collect() - take the next completed entry
 *
 * Frees its slot. The operation then has its result, but is pending until cosy_op_complete().
 *
 * Return: the operation; NULL if no entry is complete.
 */
struct cosy_async *cosy_page_collect(struct cosy_loop *loop);

/**
 * cosy_execute() - begin with all submitted entries, without waiting
 * @delivery: while it has room, entries that complete immediately are delivered immediately; the
 *	      lock is released meanwhile
 */
void cosy_execute(struct cosy_loop *loop, struct cosy_delivery *delivery);

/**
 * cosy_fd_closes() - another loop of the group is about to close a descriptor
 * @fd: the descriptor, which it closes after this
 *
 * What was submitted for it is made, or completed with -ECANCELED if it would wait. Only a thread that may wait
 * for the loop may call this.
 */
void cosy_fd_closes(struct cosy_loop *loop, int fd);

#endif /* COSY_LOOP_WAIT_H */
