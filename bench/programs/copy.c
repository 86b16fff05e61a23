// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * copy4k, copy64k: copy a file of 1 MiB over another one, by reads and writes of 4 or 64 KiB.
 * With -ext4 the files are on that file system.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define SIZE	(1u << 20)
#define MOST	65536
#define FROM	"copy-from.data"

static int from, to;

/* @count is in MiB. Each iteration copies the same MiB. */
static uint64_t region(uint64_t count)
{
	static char buffer[MOST];
	const int in = from, out = to;
	const size_t size = bench_parameter();
	uint64_t i, sum = 0;
	ssize_t n;

	COSY_START;
	for (i = 0; i < count; i++) {
		lseek(in, 0, SEEK_SET);
		lseek(out, 0, SEEK_SET);
		while ((n = read(in, buffer, size)) > 0) {
			if (write(out, buffer, (size_t)n) != n)
				goto failed;
			sum += (uint64_t)n;
		}
	}
failed:
	COSY_END;
	return sum;
}

static uint64_t bound(uint64_t count)
{
	static char buffer[MOST];
	struct cosy_bound b = {
		.count = count,
		.fd = from,
		.to = to,
		.buffer = (uintptr_t)buffer,
		.size = bench_parameter(),
	};

	return bench_bound(COSY_BOUND_COPY, &b);
}

/* Submit chains of a read and the write that depends on it. */
static uint64_t uring(uint64_t count)
{
	static char buffers[URING_BATCH / 2][MOST];
	const unsigned int size = (unsigned int)bench_parameter();
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		for (uint64_t at = 0; at < SIZE;) {
			for (int j = 0; j < URING_BATCH / 2 && at < SIZE; j++, at += size) {
				uring_rw(IORING_OP_READ, from, buffers[j], size, at)->flags |=
					IOSQE_IO_LINK;
				uring_rw(IORING_OP_WRITE, to, buffers[j], size, at);
			}
			sum += (uint64_t)uring_submit() / 2;
		}
	}
	return sum;
}

/* Check the copy, then destroy it, so that the next run must make it again. */
static uint64_t expected(uint64_t count)
{
	static char zeros[SIZE];

	if (!file_same(from, to, SIZE) || pwrite(to, zeros, SIZE, 0) != SIZE)
		return ~0ull;
	return count * SIZE;
}

static void prepare(void)
{
	/* No process has it open for writing, as when programs copy: otherwise its pages are not borrowed. */
	close(file_make(FROM, SIZE, 1));
	from = open(FROM, O_RDONLY);
	if (from < 0)
		bench_die(FROM);
	to = file_make("copy-to.data", SIZE, 7);
	uring_open();
}

#define COPY(NAME, BYTES) \
	{ .name = NAME, .per = "MiB", .count = 16, .parameter = (BYTES), .region = region, \
	  .bound = bound, .io_uring = uring, .expected = expected }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		COPY("copy4k", 4096), COPY("copy64k", 65536),
		COPY("copy4k-ext4", 4096), COPY("copy64k-ext4", 65536), { 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
