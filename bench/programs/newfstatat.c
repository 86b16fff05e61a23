// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * newfstatat: stat of one path, in the dentry cache.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/uring.h"

#define PATH "newfstatat.data"
#define SIZE 1000

static struct stat st;

static uint64_t region(uint64_t count)
{
	int ret = -1;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		ret = fstatat(AT_FDCWD, PATH, &st, 0);
	COSY_END;
	return ret ? 0 : (uint64_t)st.st_size;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.path = (uintptr_t)PATH,
		.stat = (uintptr_t)&st,
	};

	bench_bound(COSY_BOUND_STAT, &b);
	return (uint64_t)st.st_size;
}

static uint64_t uring(uint64_t count)
{
	static struct statx stx[URING_BATCH];
	for (uint64_t i = 0; i < count; i += URING_BATCH) {
		for (int j = 0; j < URING_BATCH; j++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_STATX;
			sqe->fd = AT_FDCWD;
			sqe->addr = (uintptr_t)PATH;
			sqe->len = STATX_BASIC_STATS;
			sqe->off = (uintptr_t)&stx[j];
		}
		uring_submit();
	}
	return stx[0].stx_size;
}

static uint64_t expected(uint64_t count)
{
	(void)count;
	return SIZE;
}

static void prepare(void)
{
	int fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, SIZE))
		bench_die(PATH);
	close(fd);
	uring_open();
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "newfstatat", .per = "call", .count = 3200, .region = region,
		  .bound = bound, .io_uring = uring, .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
