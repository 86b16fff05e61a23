/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * table.h - a file of records, and transactions on random records.
 *
 * A transaction reads a record. Every other one also increments its count and writes it
 * back. Each record contains its number and a check word, so that a record at the wrong
 * place, or half of one, is detected.
 *
 * Not thread-safe for one struct table. Errors of the file end the program with a message
 * and status 1, after the line of progress was erased.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct table - an open file of records
 * @path:    of the file; kept, not copied
 * @fd:      of the file
 * @size:    bytes of a record
 * @records: number of records
 * @record:  memory for one, in the segment
 * @random:  state of the generator, in the segment
 */
struct table {
	const char *path;
	int fd;
	size_t size;
	uint64_t records;
	struct table_record *record;
	struct table_random *random;
};

/**
 * struct table_counts - counts of a run
 * @reads:  records read
 * @writes: records incremented and written
 * @sum:    sum of the counts of all records read
 */
struct table_counts {
	uint64_t reads, writes, sum;
};

/**
 * table_progress - called with the progress of work on all records
 * @records: done so far
 */
typedef void table_progress(uint64_t records);

/** TABLE_RECORD_MIN - the smallest record, in bytes */
#define TABLE_RECORD_MIN 32

/**
 * table_create() - create a file of records with counts of 0, or overwrite an
 *		    existing one
 * @path:    of the file
 * @size:    bytes of a record, a multiple of 8, at least TABLE_RECORD_MIN
 * @records: their number
 * @progress: called from time to time
 *
 * A pipe or a terminal is refused.
 */
void table_create(const char *path, size_t size, uint64_t records,
		  table_progress *progress);

/** table_open() - open a file made with the same @size and @records */
void table_open(struct table *table, const char *path, size_t size,
		uint64_t records);

/**
 * table_run() - make transactions on the records @first … @first + @number - 1
 * @seed:   determines the records and their order
 * @count:  number of transactions
 * @counts: the counts of this run are added
 */
void table_run(struct table *table, uint64_t first, uint64_t number,
	       uint64_t seed, uint64_t count, struct table_counts *counts);

/**
 * table_total() - return the sum of all records' counts; each record is checked
 * @progress: called from time to time
 */
uint64_t table_total(struct table *table, table_progress *progress);

/** table_close() - close the file and free the memory of table_open() */
void table_close(struct table *table);

#endif /* TABLE_H */
