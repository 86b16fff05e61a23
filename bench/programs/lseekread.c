// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * lseekread: seek to the same position of a file each time, and read 4 KiB.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <string.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define SIZE		(1u << 20)
#define PIECE		4096
#define POSITION	(5 * PIECE)

static int fd;
static char buffer[PIECE], wanted[PIECE];

static uint64_t region(uint64_t count)
{
	uint64_t i, total = 0;
	int file = fd;

	COSY_START;
	for (i = 0; i < count; i++) {
		lseek(file, POSITION, SEEK_SET);
		total += (uint64_t)read(file, buffer, PIECE);
	}
	COSY_END;
	return total;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.fd = fd,
		.position = POSITION,
		.buffer = (uintptr_t)buffer,
		.size = PIECE,
	};

	return bench_bound(COSY_BOUND_SEEKREAD, &b);
}

static uint64_t uring(uint64_t count)
{
	static char buffers[URING_BATCH][PIECE];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count;) {
		for (int j = 0; j < URING_BATCH && i < count; j++, i++)
			uring_rw(IORING_OP_READ, fd, buffers[j], PIECE, POSITION);
		sum += (uint64_t)uring_submit();
	}
	memcpy(buffer, buffers[0], PIECE);
	return sum;
}

/* Use the data that was read. Otherwise it need not be copied. */
static uint64_t expected(uint64_t count)
{
	if (memcmp(buffer, wanted, PIECE))
		return ~0ull;
	memset(buffer, 0, PIECE);
	return count * PIECE;
}

static void prepare(void)
{
	fd = file_make("lseekread.data", SIZE, 2);
	if (pread(fd, wanted, PIECE, POSITION) != PIECE)
		bench_die("lseekread.data");
	uring_open();
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "lseekread", .per = "lseek and read", .count = 3200, .region = region,
		  .bound = bound, .io_uring = uring, .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
