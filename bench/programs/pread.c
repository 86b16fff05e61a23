// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * pread64, pread4096: read the same bytes repeatedly, from the page cache.
 */

#include <cosy.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

static int fd;
static char buffer[4096];

static uint64_t read_region(size_t size, uint64_t count)
{
	const int file = fd;
	ssize_t n = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		n = pread(file, buffer, size, 0);
	COSY_END;
	return (uint64_t)n;
}

static uint64_t read_bound(size_t size, uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.fd = fd,
		.buffer = (uintptr_t)buffer,
		.size = size,
	};

	return bench_bound(COSY_BOUND_PREAD, &b);
}

static uint64_t read_uring(size_t size, uint64_t count)
{
	long sum = 0;

	for (uint64_t i = 0; i < count; i += URING_BATCH) {
		for (int j = 0; j < URING_BATCH; j++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_READ;
			sqe->fd = fd;
			sqe->addr = (uintptr_t)buffer;
			sqe->len = (unsigned int)size;
		}
		sum = uring_submit();
	}
	return (uint64_t)sum / URING_BATCH;
}

static uint64_t region64(uint64_t count) { return read_region(64, count); }
static uint64_t region4096(uint64_t count) { return read_region(4096, count); }
static uint64_t bound64(uint64_t count) { return read_bound(64, count); }
static uint64_t bound4096(uint64_t count) { return read_bound(4096, count); }
static uint64_t uring64(uint64_t count) { return read_uring(64, count); }
static uint64_t uring4096(uint64_t count) { return read_uring(4096, count); }

static uint64_t expected64(uint64_t count)
{
	(void)count;
	return 64;
}

static uint64_t expected4096(uint64_t count)
{
	(void)count;
	return 4096;
}

static void prepare(void)
{
	fd = file_make("pread.data", sizeof(buffer), 1);
	uring_open();
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "pread64", .per = "call", .count = 6400, .region = region64,
		  .bound = bound64, .io_uring = uring64, .expected = expected64 },
		{ .name = "pread4096", .per = "call", .count = 6400, .region = region4096,
		  .bound = bound4096, .io_uring = uring4096, .expected = expected4096 },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
