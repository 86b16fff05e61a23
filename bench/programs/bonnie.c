// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * bonnie-read, bonnie-rewrite, bonnie-write: the three phases of Bonnie that the Cosy
 * paper compares (figure 5), in blocks of 4096 bytes, for files of 4 to 256 MiB.
 *
 * As in the paper, the blocks that are read are not used. Read measures only reading. Rewrite
 * writes each block back to its position.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <stdbool.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define BLOCK	4096
#define MIB	(1u << 20)

static int file;
static char block[BLOCK];	/* the data that is written */
static uint64_t blocks;

/* Buffers for the ways without the region, which has a buffer of its own. */
static char buffers[URING_BATCH][BLOCK];

static uint64_t read_region(uint64_t count)
{
	static char buffer[BLOCK];
	const uint64_t passes = count / blocks;
	const int fd = file;
	uint64_t pass, sum = 0;
	ssize_t n;

	COSY_START;
	for (pass = 0; pass < passes; pass++) {
		lseek(fd, 0, SEEK_SET);
		while ((n = read(fd, buffer, sizeof(buffer))) > 0)
			sum += (uint64_t)n;
	}
	COSY_END;
	return sum;
}

static uint64_t rewrite_region(uint64_t count)
{
	static char buffer[BLOCK];
	const uint64_t passes = count / blocks;
	const int fd = file;
	uint64_t pass, sum = 0;
	ssize_t n;

	COSY_START;
	for (pass = 0; pass < passes; pass++) {
		lseek(fd, 0, SEEK_SET);
		while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
			lseek(fd, -n, SEEK_CUR);
			if (write(fd, buffer, (size_t)n) != n)
				goto failed;
			sum += (uint64_t)n;
		}
	}
failed:
	COSY_END;
	return sum;
}

static uint64_t write_region(uint64_t count)
{
	const uint64_t passes = count / blocks, most = blocks;
	const int fd = file;
	uint64_t pass, i, sum = 0;
	ssize_t n;

	COSY_START;
	for (pass = 0; pass < passes; pass++) {
		lseek(fd, 0, SEEK_SET);
		for (i = 0; i < most; i++) {
			n = write(fd, block, sizeof(block));
			if (n < 0)
				goto failed;
			sum += (uint64_t)n;
		}
	}
failed:
	COSY_END;
	return sum;
}

static uint64_t bound(unsigned long request, uint64_t count)
{
	struct cosy_bound b = {
		.count = count / blocks,
		.fd = file,
		.buffer = (uintptr_t)(request == COSY_BOUND_WRITE ? block : buffers[0]),
		.size = BLOCK,
		.blocks = blocks,
	};

	return bench_bound(request, &b);
}

static uint64_t read_bound(uint64_t count) { return bound(COSY_BOUND_READ, count); }
static uint64_t rewrite_bound(uint64_t count) { return bound(COSY_BOUND_REWRITE, count); }
static uint64_t write_bound(uint64_t count) { return bound(COSY_BOUND_WRITE, count); }

/* Submit batches of reads or writes; if both, chains of a read and a write. */
static uint64_t uring(uint64_t count, bool reads, bool writes)
{
	const uint64_t batch = reads && writes ? URING_BATCH / 2 : URING_BATCH;
	uint64_t sum = 0;

	for (uint64_t at = 0; at < count;) {
		for (uint64_t i = 0; i < batch && at < count; i++, at++) {
			uint64_t offset = at % blocks * BLOCK;

			if (reads)
				uring_rw(IORING_OP_READ, file, buffers[i], BLOCK, offset)->flags |=
					writes ? IOSQE_IO_LINK : 0;
			if (writes)
				uring_rw(IORING_OP_WRITE, file, reads ? buffers[i] : block, BLOCK,
					 offset);
		}
		sum += (uint64_t)uring_submit() / (reads && writes ? 2 : 1);
	}
	return sum;
}

static uint64_t read_uring(uint64_t count) { return uring(count, true, false); }
static uint64_t rewrite_uring(uint64_t count) { return uring(count, true, true); }
static uint64_t write_uring(uint64_t count) { return uring(count, false, true); }

static uint64_t expected(uint64_t count)
{
	return count * BLOCK;
}

static void prepare(void)
{
	blocks = bench_parameter() / BLOCK;
	file = file_make("bonnie.data", bench_parameter(), 3);
	uring_open();
}

#define BONNIE(NAME, WHAT, SIZE, PASSES) \
	{ .name = "bonnie-" NAME, .per = "block", .parameter = (SIZE) * (uint64_t)MIB, \
	  .count = (PASSES) * (uint64_t)(SIZE) * (MIB / BLOCK), .region = WHAT##_region, \
	  .bound = WHAT##_bound, .io_uring = WHAT##_uring, .expected = expected }
#define PHASE(NAME, WHAT) \
	BONNIE(NAME, WHAT, 16, 1), BONNIE(NAME "-4M", WHAT, 4, 4), \
	BONNIE(NAME "-64M", WHAT, 64, 1), BONNIE(NAME "-256M", WHAT, 256, 1)

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		PHASE("read", read), PHASE("rewrite", rewrite), PHASE("write", write), { 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
