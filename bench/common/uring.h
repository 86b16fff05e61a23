/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uring.h - io_uring by its raw interface, as little as the benchmarks need.
 */
#ifndef URING_H
#define URING_H

#include <linux/io_uring.h>
#include <stdint.h>

/* Operations handed over by one io_uring_enter(). */
#define URING_BATCH 32

/** uring_open() - make the process's ring; leaves the program if there is none */
void uring_open(void);

/**
 * uring_register_files() - give the ring a table of empty direct descriptors
 * @count: its slots
 */
void uring_register_files(unsigned int count);

/**
 * uring_sqe() - the next entry to fill
 *
 * Return: a zeroed entry; at most URING_BATCH between two uring_submit().
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

/**
 * uring_submit() - hand over all entries and wait for them
 *
 * Return: the sum of their results; leaves the program if one failed.
 */
long uring_submit(void);

#endif /* URING_H */
