// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * ls5000, ls50000: the calls of `ls -l` for a directory of 5,000 or 50,000 files:
 * getdents64, and newfstatat of every entry. Nothing is printed. ls5000-ext4 is ls5000 on
 * ext4.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/directory.h"
#include "../common/uring.h"

static int fd;
static uint64_t files;
static char buffer[32768];
static struct stat st;
static uint64_t total;		/* the sum of all st_size */

/* @count is the number of entries without "." and "..". */
static uint64_t region(uint64_t count)
{
	const uint64_t passes = count / files;
	const int dir = fd;
	uint64_t pass, sum = 0;
	long n, at;

	COSY_START;
	for (pass = 0; pass < passes; pass++) {
		lseek(dir, 0, SEEK_SET);
		while ((n = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0) {
			for (at = 0; at < n; at += ((struct dirent64 *)(buffer + at))->d_reclen) {
				fstatat(dir, ((struct dirent64 *)(buffer + at))->d_name, &st,
					AT_SYMLINK_NOFOLLOW);
				sum += (uint64_t)st.st_size;
			}
		}
	}
	COSY_END;
	return sum;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count / files,
		.fd = fd,
		.buffer = (uintptr_t)buffer,
		.size = sizeof(buffer),
		.stat = (uintptr_t)&st,
	};

	return bench_bound(COSY_BOUND_LS, &b);
}

/* io_uring has no getdents, so that is a plain call. */
static uint64_t uring(uint64_t count)
{
	static struct statx stx[URING_BATCH];
	uint64_t sum = 0;
	int filled = 0;
	long n, at;

	for (uint64_t pass = 0; pass < count / files; pass++) {
		lseek(fd, 0, SEEK_SET);
		while ((n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
			for (at = 0; at < n;) {
				struct dirent64 *entry = (struct dirent64 *)(buffer + at);

				uring_statx(fd, entry->d_name, AT_SYMLINK_NOFOLLOW, &stx[filled++]);
				at += entry->d_reclen;
				if (filled < URING_BATCH && at < n)
					continue;
				uring_submit();
				while (filled)
					sum += stx[--filled].stx_size;
			}
		}
	}
	return sum;
}

static uint64_t expected(uint64_t count)
{
	return total * (count / files);
}

static void prepare(void)
{
	files = bench_parameter();
	total = directory_make(files, &fd, NULL);
	uring_open();
}

int main(int argc, char **argv)
{
#define LS(NAME, FILES) \
	{ .name = NAME, .per = "file", .count = (FILES), .parameter = (FILES), \
	  .region = region, .bound = bound, .io_uring = uring, .expected = expected }
	static const struct bench benches[] = {
		LS("ls5000", 5000), LS("ls5000-ext4", 5000), LS("ls50000", 50000), { 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
