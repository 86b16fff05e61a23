// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * smallfile: open a file of 8 KiB, read it in pieces of 4 KiB up to its end, and close it.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define PATH	"smallfile.data"
#define PIECE	4096
#define SIZE	(2 * PIECE)

static char buffer[SIZE + PIECE];

static uint64_t region(uint64_t count)
{
	uint64_t i, total = 0;

	COSY_START;
	for (i = 0; i < count; i++) {
		int file = open(PATH, O_RDONLY);
		size_t used = 0;
		ssize_t n;

		while ((n = read(file, buffer + used, PIECE)) > 0)
			used += (size_t)n;
		close(file);
		total += used;
	}
	COSY_END;
	return total;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.path = (uintptr_t)PATH,
		.buffer = (uintptr_t)buffer,
		.size = PIECE,
	};

	return bench_bound(COSY_BOUND_SMALLFILE, &b);
}

/*
 * Submit chains of an open, reads and a close, by a direct descriptor. The number of reads
 * must be known. The last one reads the end, which breaks a chain unless it is a hard one.
 */
static uint64_t uring(uint64_t count)
{
	static char buffers[URING_BATCH][SIZE + PIECE];
	const unsigned int reads = SIZE / PIECE + 1, files = URING_BATCH / (reads + 2);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count;) {
		for (unsigned int j = 0; j < files && i < count; j++, i++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_OPENAT;
			sqe->flags = IOSQE_IO_LINK;
			sqe->fd = AT_FDCWD;
			sqe->addr = (uintptr_t)PATH;
			sqe->open_flags = O_RDONLY;
			sqe->file_index = j + 1;
			for (unsigned int k = 0; k < reads; k++)
				uring_rw(IORING_OP_READ, (int)j, buffers[j] + k * PIECE, PIECE,
					 k * PIECE)->flags = IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
			sqe = uring_sqe();
			sqe->opcode = IORING_OP_CLOSE;
			sqe->file_index = j + 1;
		}
		sum += (uint64_t)uring_submit();
	}
	return sum;
}

static uint64_t expected(uint64_t count)
{
	return count * SIZE;
}

static void prepare(void)
{
	close(file_make(PATH, SIZE, 9));
	uring_open();
	uring_register_files(URING_BATCH);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "smallfile", .per = "file", .count = 800, .region = region,
		  .bound = bound, .io_uring = uring, .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
