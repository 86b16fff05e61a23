// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define CHUNK	65536
#define PERIOD	127		/* bytes after which the pattern repeats */

static void must_pread(int fd, char *to, size_t size, uint64_t offset)
{
	ssize_t n = pread(fd, to, size, (off_t)offset);

	if (n != (ssize_t)size) {
		if (n >= 0)
			errno = EIO;
		bench_die("reading a file again");
	}
}

int file_make(const char *name, uint64_t size, unsigned char seed)
{
	static unsigned char pattern[CHUNK + PERIOD];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		bench_die(name);
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (unsigned char)(seed + i % PERIOD);
	for (uint64_t at = 0; at < size;) {
		uint64_t left = size - at;
		size_t n = left < CHUNK ? (size_t)left : CHUNK;

		/* Each piece begins one byte later than the previous one. */
		if (write(fd, pattern + at / CHUNK % PERIOD, n) != (ssize_t)n)
			bench_die(name);
		at += n;
	}
	/* Nothing must be written back during a measurement. */
	if (fsync(fd))
		bench_die(name);
	return fd;
}

_Bool file_same(int a, int b, uint64_t size)
{
	static char left[CHUNK], right[CHUNK];

	for (uint64_t at = 0; at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;

		must_pread(a, left, n, at);
		must_pread(b, right, n, at);
		if (memcmp(left, right, n))
			return false;
	}
	return true;
}
