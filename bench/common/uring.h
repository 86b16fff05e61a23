/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uring.h - the raw interface of io_uring, as far as the benchmarks need it.
 */
#ifndef URING_H
#define URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

/* Operations submitted by one io_uring_enter(). */
#define URING_BATCH 32

/** uring_open() - make the process's ring; exits if there is no io_uring */
void uring_open(void);

/**
 * uring_open_waiting() - make the process's ring, for operations that wait
 * @entries:     operations submitted by one io_uring_enter(), a power of two
 * @completions: operations that may be complete at once, a power of two
 *
 * The thread that waits does their work (IORING_SETUP_DEFER_TASKRUN), which is cheapest.
 * Exits if there is no io_uring.
 */
void uring_open_waiting(unsigned int entries, unsigned int completions);

/**
 * uring_open_polled() - make the process's ring, whose entries a thread of the kernel takes
 * @idle_ms: milliseconds for which that thread polls without work before it sleeps
 * @cpu:     the CPU on which it runs
 *
 * Submit by uring_enter_polled(). Exits if there is no io_uring.
 */
void uring_open_polled(unsigned int idle_ms, unsigned int cpu);

/**
 * uring_register_files() - make the ring's table of direct descriptors, which are empty
 * @count: number of its slots
 */
void uring_register_files(unsigned int count);

/**
 * uring_register_file() - make a direct descriptor of the ring
 * @slot: its slot
 * @fd:   the descriptor
 */
void uring_register_file(unsigned int slot, int fd);

/**
 * uring_sqe() - return the next entry to fill
 *
 * At most as many as the ring has between two uring_submit() or uring_enter().
 *
 * Return: a zeroed entry.
 */
struct io_uring_sqe *uring_sqe(void);

/**
 * uring_rw() - fill an entry that reads or writes
 * @opcode: IORING_OP_READ or IORING_OP_WRITE
 * @fd: @buffer: @size: @offset: as for pread() and pwrite()
 *
 * Return: the entry, for flags.
 */
struct io_uring_sqe *uring_rw(unsigned char opcode, int fd, void *buffer,
			      unsigned int size, uint64_t offset);

struct statx;

/**
 * uring_statx() - fill an entry that gets the status of a file
 * @dir: @name: @flags: as for statx()
 * @status: out: the status, after the entry is complete
 */
void uring_statx(int dir, const char *name, unsigned int flags, struct statx *status);

/**
 * uring_submit() - submit all entries and wait for them
 *
 * Return: the sum of their results. Exits if one failed.
 */
long uring_submit(void);

/**
 * uring_enter() - submit all entries
 * @min: completions to wait for; 0: do not wait
 */
void uring_enter(unsigned int min);

/** uring_enter_polled() - the same for a ring of uring_open_polled() */
void uring_enter_polled(unsigned int min);

/**
 * uring_next() - take the next completion
 * @cqe: out: the completion
 *
 * Return: false if there is none.
 */
bool uring_next(struct io_uring_cqe *cqe);

#endif /* URING_H */
