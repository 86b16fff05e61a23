// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * dbsim: the Cosy paper's database simulation (figures 3 and 4) - seek to a random record,
 * read it, and in every second iteration write it after its position; for files of several
 * sizes, and by several processes that share the work.
 *
 * dbsim-function: the same with a user function that selects the record, as in the paper.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define RECORD	4096
#define MIB	(1u << 20)
#define NAME	"dbsim.data"

/* The parts of the benchmark's parameter. */
#define SIZE_OF(parameter)	((parameter) >> 8 << 20)
#define PROCESSES_OF(parameter)	((parameter) & 0xff)
#define PARAMETER(mib, processes) ((uint64_t)(mib) << 8 | (processes))

static int file;
static uint64_t records;	/* the file has room for one more */

/* Return the bytes that were moved, or -1 after an error. */
static inline ssize_t transaction(int fd, uint64_t record, bool writes, char *buffer)
{
	ssize_t n, written;

	lseek(fd, (off_t)(record * RECORD), SEEK_SET);
	n = read(fd, buffer, RECORD);
	if (n < 0 || !writes)
		return n;
	written = write(fd, buffer, (size_t)n);
	return written < 0 ? -1 : n + written;
}

static uint64_t region(uint64_t count)
{
	static char buffer[RECORD];
	const uint64_t nrecords = records;
	uint64_t state = 1, i, sum = 0;
	const int fd = file;
	ssize_t n;

	COSY_START;
	for (i = 0; i < count; i++) {
		state = COSY_BOUND_NEXT(state);
		n = transaction(fd, (state >> 33) % nrecords, i & 1, buffer);
		if (n < 0)
			break;
		sum += (uint64_t)n;
	}
	COSY_END;
	return sum;
}

COSY_FUNCTION
static uint64_t pick(uint64_t *state, uint64_t nrecords)
{
	*state = COSY_BOUND_NEXT(*state);
	return (*state >> 33) % nrecords;
}

static uint64_t function_region(uint64_t count)
{
	static char buffer[RECORD];
	const uint64_t nrecords = records;
	uint64_t *const state = cosy_malloc(sizeof(*state));
	uint64_t i, sum = 0;
	const int fd = file;
	ssize_t n;

	if (!state)
		bench_die("cosy_malloc");
	*state = 1;
	COSY_START;
	for (i = 0; i < count; i++) {
		n = transaction(fd, pick(state, nrecords), i & 1, buffer);
		if (n < 0)
			break;
		sum += (uint64_t)n;
	}
	COSY_END;
	cosy_free(state);
	return sum;
}

static uint64_t bound(uint64_t count)
{
	static char buffer[RECORD];
	struct cosy_bound b = {
		.count = count,
		.fd = file,
		.buffer = (uintptr_t)buffer,
		.size = RECORD,
		.blocks = records,
	};

	return bench_bound(COSY_BOUND_DBSIM, &b);
}

static uint64_t uring(uint64_t count)
{
	static char buffers[URING_BATCH][RECORD];
	uint64_t state = 1, sum = 0;

	for (uint64_t i = 0; i < count;) {
		/* An iteration adds up to two operations to the batch. */
		for (int used = 0; used < URING_BATCH - 1 && i < count; i++) {
			struct io_uring_sqe *sqe;
			uint64_t at;

			state = COSY_BOUND_NEXT(state);
			at = (state >> 33) % records * RECORD;
			sqe = uring_rw(IORING_OP_READ, file, buffers[used], RECORD, at);
			if (i & 1) {
				sqe->flags |= IOSQE_IO_LINK;
				uring_rw(IORING_OP_WRITE, file, buffers[used++], RECORD, at + RECORD);
			}
			used++;
		}
		sum += (uint64_t)uring_submit();
	}
	return sum;
}

/* Make @count transactions in all processes together. Each opens the file itself. */
static uint64_t share(bench_loop *loop, uint64_t count)
{
	const uint64_t processes = PROCESSES_OF(bench_parameter());
	uint64_t sum = 0, mine;
	int pipes[2];

	if (processes == 1)
		return loop(count);
	if (pipe(pipes))
		bench_die("pipe");
	for (uint64_t i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_die("fork");
		if (pid == 0) {
			file = open(NAME, O_RDWR);
			if (file < 0)
				bench_die(NAME);
			if (loop == uring)
				uring_open();
			sum = loop(count / processes);
			/* Not _exit(), so that libcosy prints which executor ran the region. */
			exit(write(pipes[1], &sum, sizeof(sum)) != sizeof(sum));
		}
	}
	close(pipes[1]);
	while (read(pipes[0], &mine, sizeof(mine)) == sizeof(mine))
		sum += mine;
	close(pipes[0]);
	for (uint64_t i = 0; i < processes; i++)
		wait(NULL);
	return sum;
}

static uint64_t shared_region(uint64_t count) { return share(region, count); }
static uint64_t shared_function(uint64_t count) { return share(function_region, count); }
static uint64_t shared_bound(uint64_t count) { return share(bound, count); }
static uint64_t shared_uring(uint64_t count) { return share(uring, count); }

static uint64_t expected(uint64_t count)
{
	return (count + count / 2) * RECORD;
}

static void prepare(void)
{
	const uint64_t size = SIZE_OF(bench_parameter());

	records = size / RECORD - 1;
	file = file_make(NAME, size, 5);
	uring_open();
}

#define DBSIM(TEXT, MIBS, PROCESSES, REGION) \
	{ .name = "dbsim" TEXT, .per = "transaction", .count = 20000, \
	  .parameter = PARAMETER(MIBS, PROCESSES), .region = REGION, \
	  .bound = shared_bound, .io_uring = shared_uring, .expected = expected }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		DBSIM("", 16, 1, shared_region),
		DBSIM("-function", 16, 1, shared_function),
		DBSIM("-1M", 1, 1, shared_region),
		DBSIM("-4M", 4, 1, shared_region),
		DBSIM("-64M", 64, 1, shared_region),
		DBSIM("-256M", 256, 1, shared_region),
		DBSIM("-2p", 16, 2, shared_region),
		DBSIM("-4p", 16, 4, shared_region),
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
