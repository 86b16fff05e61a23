/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sum.h - checksums of many files, many per crossing.
 *
 * A queue: paths go in, and a Cosy region opens, reads and sums up as many files
 * as it is given. Each is reported in the order they came. The sums themselves
 * are user functions, so that contents need not leave the kernel's caches:
 *
 *	struct sum sum;
 *
 *	sum_init(&sum, SUM_CRC, report, progress, context);
 *	sum_add(&sum, path);
 *	sum_flush(&sum);
 *	sum_free(&sum);
 *
 * Not thread-safe, not async-signal-safe. A function that finds no memory ends
 * the program with a message and status 1.
 */
#ifndef SUM_H
#define SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum sum_algorithm - which checksum
 * @SUM_CRC:   the 32-bit CRC of POSIX cksum, the length in it
 * @SUM_ADLER: Adler-32 of RFC 1950
 */
enum sum_algorithm { SUM_CRC, SUM_ADLER };

/**
 * struct sum_file - a file to sum up
 * @path:  "-" is standard input
 * @value: out: the checksum
 * @size:  out: bytes
 * @error: out: errno, 0 if all of it was read
 */
struct sum_file {
	char *path;
	uint32_t value;
	uint64_t size;
	int error;
};

/** struct sum - files to sum up; @bytes and @finished say how far it is */
struct sum {
	enum sum_algorithm algorithm;
	void (*report)(void *context, const struct sum_file *file);
	void (*progress)(void *context);
	void *context;
	struct sum_file *files;
	size_t count, done;
	int fd;			/* of files[done], -1: not open */
	unsigned char *buffer;	/* these are in the segment */
	uint32_t *table;
	uint64_t bytes, finished;
};

/**
 * sum_init() - begin
 * @sum:       to be given back with sum_free()
 * @report:    called for each file when it is through
 * @progress:  called now and then meanwhile
 * @context:   for both
 */
void sum_init(struct sum *sum, enum sum_algorithm algorithm,
	      void (*report)(void *context, const struct sum_file *file),
	      void (*progress)(void *context), void *context);

/** sum_add() - sum up a file, now or later; may report what came before it */
void sum_add(struct sum *sum, const char *path);

/** sum_flush() - sum up, and report, what was added */
void sum_flush(struct sum *sum);

/** sum_free() - give the memory back; nothing may be waiting */
void sum_free(struct sum *sum);

#endif /* SUM_H */
