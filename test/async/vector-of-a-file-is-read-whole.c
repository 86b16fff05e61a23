/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * readv() of a file of which only the beginning is cached, behind a read() of that file: it does not return
 * less, as it would if it was attempted without waiting for the disk.
 */
// RUN: %compile
// RUN: %everywhere
#include "loop.h"

#define SIZE	(1 << 20)
#define CACHED	(1 << 16)

static char data[SIZE + CACHED];

int main(void)
{
	struct iovec vector = { .iov_base = data, .iov_len = SIZE };
	struct cosy_async reads = { 0 }, vectors = { 0 };
	struct cosy_loop *loop = make_loop();
	/* On the disk of the build. */
	int fd = open("async-vector.data", O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	EQUAL(unlink("async-vector.data"), 0);
	EQUAL(write(fd, data, sizeof(data)), sizeof(data));
	EQUAL(fsync(fd), 0);
	EQUAL(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	EQUAL(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
	EQUAL(pread(fd, data, CACHED, 0), CACHED);
	EQUAL(lseek(fd, 0, SEEK_SET), 0);
	EQUAL(cosy_async_read(loop, &reads, fd, data, 4096), 0);
	EQUAL(cosy_async_readv(loop, &vectors, fd, &vector, 1), 0);
	EQUAL(result_of(loop, &reads), 4096);
	EQUAL(result_of(loop, &vectors), SIZE);
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
