// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * fast: calls that the module makes with less work than they are by themselves.
 *
 * stat: of a constant path. smallfile: open a file of 8 KiB, read it in pieces
 * of 4 KiB up to its end, close it. lseekread: set the position, the same each
 * time, and read 4 KiB.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/bench.h"

#define STAT_PATH "fast.dir/sub/stat"
#define SMALL_PATH "smallfile.data"
#define SEEK_PATH "lseekread.data"
#define SIZE 8192
#define PIECE 4096
#define SEEK_FILE_SIZE (1 << 20)
#define SEEK_POSITION (5 * PIECE)

static struct stat st;
static char buffer[4 * PIECE];
static int fd;

static uint64_t region_stat(uint64_t count)
{
	int ret = -1;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		ret = fstatat(AT_FDCWD, STAT_PATH, &st, 0);
	COSY_END;
	return ret ? 0 : (uint64_t)st.st_size;
}

static uint64_t region_smallfile(uint64_t count)
{
	uint64_t i, total = 0;

	COSY_START;
	for (i = 0; i < count; i++) {
		int file = open(SMALL_PATH, O_RDONLY);
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

static uint64_t region_lseekread(uint64_t count)
{
	uint64_t i, total = 0;
	int file = fd;

	COSY_START;
	for (i = 0; i < count; i++) {
		lseek(file, SEEK_POSITION, SEEK_SET);
		total += (uint64_t)read(file, buffer, PIECE);
	}
	COSY_END;
	return total;
}

static uint64_t expected_stat(uint64_t count)
{
	(void)count;
	return SIZE;
}

static uint64_t expected_smallfile(uint64_t count)
{
	return count * SIZE;
}

static uint64_t expected_lseekread(uint64_t count)
{
	return count * PIECE;
}

static int make(const char *name, size_t size)
{
	int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file < 0)
		bench_die(name);
	for (size_t at = 0; at < size; at += PIECE)
		if (write(file, buffer, PIECE) != PIECE)
			bench_die(name);
	return file;
}

static void prepare(void)
{
	mkdir("fast.dir", 0755);
	mkdir("fast.dir/sub", 0755);
	close(make(STAT_PATH, SIZE));
	close(make(SMALL_PATH, SIZE));
	fd = make(SEEK_PATH, SEEK_FILE_SIZE);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "stat", .per = "call", .count = 3200,
		  .region = region_stat, .expected = expected_stat },
		{ .name = "smallfile", .per = "file", .count = 800,
		  .region = region_smallfile, .expected = expected_smallfile },
		{ .name = "lseekread", .per = "lseek and read", .count = 3200,
		  .region = region_lseekread, .expected = expected_lseekread },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
