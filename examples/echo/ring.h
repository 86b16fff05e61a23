/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.h - io_uring by its system calls, a small part of liburing.
 *
 * Not thread-safe. A function that fails ends the program with a message and status 1.
 */
#ifndef RING_H
#define RING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct ring - entries to submit, and completions
 * @fd:          the descriptor
 * @filled:      entries that are not submitted yet
 * @sq_mask: @cq_mask: entries and completions, less one
 * @sq_tail: @cq_head: @cq_tail: indices that are shared with the kernel
 * @sqes:        the entries
 * @cqes:        the completions
 * @maps:        memory shared with the kernel
 * @map_sizes:   of @maps
 */
struct ring {
	int fd;
	unsigned int filled;
	unsigned int sq_mask, cq_mask;
	unsigned int *sq_tail, *cq_head, *cq_tail;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	void *maps[3];
	size_t map_sizes[3];
};

/** ring_open() - create a ring with @entries, a power of two */
void ring_open(struct ring *ring, unsigned int entries);

/** ring_close() - free the ring; no operation may be outstanding */
void ring_close(struct ring *ring);

/**
 * ring_entry() - fill the next entry
 * @data: stored in its completion
 *
 * Return: a zeroed entry. If there is no room, earlier entries are submitted.
 */
struct io_uring_sqe *ring_entry(struct ring *ring, void *data);

/** ring_enter() - submit all entries, and wait for @min completions */
void ring_enter(struct ring *ring, unsigned int min);

/** ring_next() - take the next completion; return false if there is none */
bool ring_next(struct ring *ring, struct io_uring_cqe *cqe);

#endif /* RING_H */
