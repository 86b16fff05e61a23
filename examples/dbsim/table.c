// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * table.c - a file of records, and transactions on records at random.
 */
#include "table.h"
#include "../common/progress.h"
#include "../common/write.h"

#include <cosy.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * struct table_record - the beginning of a record; the rest is 0
 * @number: its number in the file, from 0
 * @count:  how often it was written since it was created
 * @check:  computed from the others
 */
struct table_record {
	uint64_t number;
	uint64_t count;
	uint64_t check;
};

/** struct table_random - a generator of numbers, splitmix64; @state is any */
struct table_random {
	uint64_t state;
};

/*
 * Transactions in one region, so that a long run leaves it from time to time; and records
 * between two calls of progress.
 */
enum { BATCH = 65536, STEP = 256 };

/* Return a number that differs for any two different @n. */
static inline uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	n = (n ^ n >> 27) * 0x94d049bb133111ebu;
	return n ^ n >> 31;
}

/* Return the number of the next record, below @records. */
COSY_FUNCTION
static uint64_t pick(struct table_random *random, uint64_t records)
{
	random->state += 0x9e3779b97f4a7c15u;
	return mix(random->state) % records;
}

static inline uint64_t check_of(const struct table_record *record)
{
	return mix(record->number) ^ mix(record->count + 1);
}

/*
 * Increment the count of a record. Return 0 if it is not record @number, or is not valid.
 */
COSY_FUNCTION
static int count_up(struct table_record *record, uint64_t number)
{
	if (record->number != number || record->check != check_of(record))
		return 0;
	record->count++;
	record->check = check_of(record);
	return 1;
}

static bool is_sound(const struct table_record *record, uint64_t number)
{
	return record->number == number && record->check == check_of(record);
}

static void fail(const struct table *table, const char *what)
{
	progress_clear();
	error(1, errno, "cannot %s '%s'", what, table->path);
}

static void fail_damaged(const struct table *table, uint64_t record)
{
	progress_clear();
	error(1, 0, "'%s' is damaged at record %ju", table->path,
	      (uintmax_t)record);
}

/* Writes the record at the offset of the file. */
static void write_record(const struct table *table)
{
	const char *bytes = (const char *)table->record;
	size_t done = 0;
	ssize_t n;

	do {
		n = write_some(table->fd, bytes + done, table->size - done);
		if (n < 0)
			fail(table, "write");
		done += n;
	} while (done < table->size);
}

/* Opens the file of @table, which must be seekable. */
static void open_file(struct table *table, int flags, const char *what)
{
	struct stat status;

	/* O_NONBLOCK: do not wait for the other end of a pipe. */
	table->fd = open(table->path, flags | O_NONBLOCK | O_CLOEXEC, 0666);
	if (table->fd < 0 || fstat(table->fd, &status) < 0)
		fail(table, what);
	if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
		error(1, 0, "cannot %s '%s': not a regular file", what,
		      table->path);
}

void table_create(const char *path, size_t size, uint64_t records,
		  table_progress *progress)
{
	struct table table = { .path = path, .size = size };

	table.record = calloc(1, size);
	if (!table.record)
		fail(&table, "create");
	open_file(&table, O_WRONLY | O_CREAT | O_TRUNC, "create");
	for (uint64_t i = 0; i < records; i++) {
		table.record->number = i;
		table.record->check = check_of(table.record);
		write_record(&table);
		if (i % STEP == 0)
			progress(i);
	}
	if (close(table.fd) < 0)
		fail(&table, "write");
	free(table.record);
}

void table_open(struct table *table, const char *path, size_t size,
		uint64_t records)
{
	*table = (struct table){
		.path = path,
		.size = size,
		.records = records,
		.record = cosy_malloc(size),
		.random = cosy_malloc(sizeof(*table->random)),
	};
	if (!table->record || !table->random)
		fail(table, "open");
	open_file(table, O_RDWR, "open");
}

void table_run(struct table *table, uint64_t first, uint64_t number,
	       uint64_t seed, uint64_t count, struct table_counts *counts)
{
	struct table_record *record = table->record;
	struct table_random *random = table->random;
	size_t size = table->size;
	uint64_t i = 0, stop, at, writes = 0, sum = 0;
	int fd = table->fd;
	ssize_t n;

	random->state = mix(seed);
	while (i < count) {
		stop = count - i < BATCH ? count : i + BATCH;
		COSY_START;
		for (; i < stop; i++) {
			at = first + pick(random, number);
			n = lseek(fd, at * size, SEEK_SET);
			if (n < 0)
				goto broken;
			n = read(fd, record, size);
			if (n != (ssize_t)size)
				goto broken;
			sum += record->count;
			if (i & 1) {
				if (!count_up(record, at))
					goto broken;
				n = lseek(fd, at * size, SEEK_SET);
				if (n < 0)
					goto broken;
				n = write(fd, record, size);
				if (n != (ssize_t)size)
					goto broken;
				writes++;
			}
		}
		COSY_END;
	}
	counts->reads += count;
	counts->writes += writes;
	counts->sum += sum;
	return;
broken:
	if (n >= 0)
		fail_damaged(table, at);
	fail(table, "use");
}

uint64_t table_total(struct table *table, table_progress *progress)
{
	uint64_t total = 0;

	if (lseek(table->fd, 0, SEEK_SET) < 0)
		fail(table, "read");
	for (uint64_t i = 0; i < table->records; i++) {
		ssize_t n = read(table->fd, table->record, table->size);

		if (n < 0)
			fail(table, "read");
		if (n != (ssize_t)table->size || !is_sound(table->record, i))
			fail_damaged(table, i);
		total += table->record->count;
		if (i % STEP == 0)
			progress(i);
	}
	return total;
}

void table_close(struct table *table)
{
	cosy_free(table->record);
	cosy_free(table->random);
	close(table->fd);
}
