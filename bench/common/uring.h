/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uring.h - io_uring by its raw interface, as little as the benchmarks need.
 */
#ifndef URING_H
#define URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

/* Operations handed over by one io_uring_enter(). */
#define URING_BATCH 32

/** uring_open() - make the process's ring; leaves the program if there is none */
void uring_open(void);

/**
 * uring_open_waiting() - make the process's ring, for operations that wait
 * @entries:     operations handed over by one io_uring_enter(), a power of two
 * @completions: operations that may be complete at once, a power of two
 *
 * Their work is done by the thread that waits (IORING_SETUP_DEFER_TASKRUN), which is the
 * cheapest. Leaves the program if there is no io_uring.
 */
void uring_open_waiting(unsigned int entries, unsigned int completions);

/**
 * uring_register_files() - give the ring a table of empty direct descriptors
 * @count: its slots
 */
void uring_register_files(unsigned int count);

/**
 * uring_register_file() - make a descriptor one of the ring's direct ones
 * @slot: which
 * @fd:   the descriptor
 */
void uring_register_file(unsigned int slot, int fd);

/**
 * uring_sqe() - the next entry to fill
 *
 * Return: a zeroed entry; at most as many as the ring has between two uring_submit() or
 * uring_enter().
 */
struct io_uring_sqe *uring_sqe(void);

/**
 * uring_rw() - an entry that reads or writes
 * @opcode: IORING_OP_READ or IORING_OP_WRITE
 * @fd: @buffer: @size: @offset: as for pread() and pwrite()
 *
 * Return: the entry, for flags.
 */
struct io_uring_sqe *uring_rw(unsigned char opcode, int fd, void *buffer,
			      unsigned int size, uint64_t offset);

struct statx;

/**
 * uring_statx() - an entry that gets the status of a file
 * @dir: @name: @flags: as for statx()
 * @status: out: what stat() tells, when the entry is complete
 */
void uring_statx(int dir, const char *name, unsigned int flags, struct statx *status);

/**
 * uring_submit() - hand over all entries and wait for them
 *
 * Return: the sum of their results; leaves the program if one failed.
 */
long uring_submit(void);

/**
 * uring_enter() - hand over all entries
 * @min: completions to wait for; 0: do not wait
 */
void uring_enter(unsigned int min);

/**
 * uring_next() - take the next completion
 * @cqe: out: the completion
 *
 * Return: false if there is none.
 */
bool uring_next(struct io_uring_cqe *cqe);

#endif /* URING_H */
