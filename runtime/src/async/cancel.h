/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cancel.h - cancels an entry, or all on a descriptor.
 */
#ifndef COSY_LOOP_CANCEL_H
#define COSY_LOOP_CANCEL_H

#include <stdint.h>

struct cosy_loop;

/**
 * cosy_fds_cancel_all() - cosy_fds_cancel(), also for entries that are still in the ring
 *
 * Then wakes all that wait.
 */
int cosy_fds_cancel_all(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_slot_cancel() - cancel an entry. Return: 0, -ENOENT or -EALREADY */
int cosy_slot_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_fds_cancel() - cancel all entries on descriptors, and forget these
 * @first: the first descriptor
 * @last:  the last one; less than @first if there are none
 *
 * Return: the number of cancelled entries.
 */
int cosy_fds_cancel(struct cosy_loop *loop, uint32_t first, uint32_t last);

/**
 * cosy_fd_forget() - another loop of the group closes a descriptor: cancel what has begun, and forget it
 * @fd: the descriptor, which may have been closed and opened again; no entry has begun with that yet
 */
void cosy_fd_forget(struct cosy_loop *loop, int fd);

/** cosy_fds_forget_all() - forget all descriptors of a loop in which nothing is outstanding */
void cosy_fds_forget_all(struct cosy_loop *loop);

/**
 * cosy_fds_cancel_stale() - after a thread has closed descriptors, cancel what waits for their files
 * @first: the first descriptor; it and others may have been opened again
 * @last:  the last one
 *
 * Functions that were cancelled for the close may have waited again before it was made.
 */
void cosy_fds_cancel_stale(struct cosy_loop *loop, uint32_t first, uint32_t last);

#endif /* COSY_LOOP_CANCEL_H */
