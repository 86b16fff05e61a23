/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sum.h - checksums of many files, many per crossing.
 *
 * A queue: the program adds paths, and a Cosy region opens and reads the files and
 * computes their sums. Each file is reported, in the order of the queue. The sums are
 * user functions, so the contents need not leave the kernel's caches:
 *
 *	struct sum sum;
 *
 *	sum_init(&sum, SUM_CRC, report, progress, context);
 *	sum_add(&sum, path);
 *	sum_flush(&sum);
 *	sum_free(&sum);
 *
 * Not thread-safe, not async-signal-safe. If there is no memory, a function ends the
 * program with a message and status 1.
 */
#ifndef SUM_H
#define SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum sum_algorithm - the kind of checksum
 * @SUM_CRC:   the 32-bit CRC of POSIX cksum, including the length
 * @SUM_ADLER: Adler-32 of RFC 1950
 */
enum sum_algorithm { SUM_CRC, SUM_ADLER };

/**
 * struct sum_file - a file whose sum is computed
 * @path:  "-" is standard input
 * @value: out: the checksum
 * @size:  out: bytes
 * @error: out: errno, or 0 if all of it was read
 */
struct sum_file {
	char *path;
	uint32_t value;
	uint64_t size;
	int error;
};

/** struct sum - a queue of files; @bytes and @finished are the progress */
struct sum {
	enum sum_algorithm algorithm;
	void (*report)(void *context, const struct sum_file *file);
	void (*progress)(void *context);
	void *context;
	struct sum_file *files;
	size_t count, done;
	int fd;			/* of files[done], -1: not open */
	unsigned char *buffer;	/* this and the table are in the segment */
	uint32_t *table;
	uint64_t bytes, finished;
};

/**
 * sum_init() - initialise a queue
 * @sum:       freed by sum_free()
 * @report:    called for each file that is done
 * @progress:  called from time to time
 * @context:   for both
 */
void sum_init(struct sum *sum, enum sum_algorithm algorithm,
	      void (*report)(void *context, const struct sum_file *file),
	      void (*progress)(void *context), void *context);

/** sum_add() - add a file; its sum is computed now or later; may report earlier files */
void sum_add(struct sum *sum, const char *path);

/** sum_flush() - compute and report all sums of the queue */
void sum_flush(struct sum *sum);

/** sum_free() - free the memory; the queue must be empty */
void sum_free(struct sum *sum);

#endif /* SUM_H */
