// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * newfstatat, stat: stat of one path, in the dentry cache: a name in the working
 * directory, and a path of three components.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define SHORT_PATH "newfstatat.data"
#define LONG_PATH "stat.dir/sub/stat"
#define SIZE 1000

static struct stat st;

static uint64_t region_short(uint64_t count)
{
	int ret = -1;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		ret = fstatat(AT_FDCWD, SHORT_PATH, &st, 0);
	COSY_END;
	return ret ? 0 : (uint64_t)st.st_size;
}

static uint64_t region_long(uint64_t count)
{
	int ret = -1;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		ret = fstatat(AT_FDCWD, LONG_PATH, &st, 0);
	COSY_END;
	return ret ? 0 : (uint64_t)st.st_size;
}

/* Return the path that the benchmark's parameter selects. */
static const char *path(void)
{
	return bench_parameter() ? LONG_PATH : SHORT_PATH;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.path = (uintptr_t)path(),
		.stat = (uintptr_t)&st,
	};

	bench_bound(COSY_BOUND_STAT, &b);
	return (uint64_t)st.st_size;
}

static uint64_t uring(uint64_t count)
{
	static struct statx stx[URING_BATCH];
	for (uint64_t i = 0; i < count; i += URING_BATCH) {
		for (int j = 0; j < URING_BATCH; j++)
			uring_statx(AT_FDCWD, path(), 0, &stx[j]);
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
	mkdir("stat.dir", 0755);
	mkdir("stat.dir/sub", 0755);
	close(file_make(path(), SIZE, 4));
	uring_open();
}

#define STAT(NAME, REGION, LONG) \
	{ .name = NAME, .per = "call", .count = 3200, .parameter = (LONG), .region = REGION, \
	  .bound = bound, .io_uring = uring, .expected = expected }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		STAT("newfstatat", region_short, 0), STAT("stat", region_long, 1), { 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
