/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operation transfers no more bytes than its system call: at most MAX_RW_COUNT, and less to a file that
 * takes less at once.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/mman.h>

#include "descriptors.h"

/* Above MAX_RW_COUNT, in memory that is never touched: /dev/null does not read it. */
static void huge(void)
{
	const size_t size = 3ul << 30;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = open("/dev/null", O_RDWR);
	struct cosy_async op = { 0 };

	CHECK(bytes != MAP_FAILED);
	EQUAL(cosy_async_write(loop, &op, fd, bytes, size), 0);
	EQUAL(result_of(loop, &op), write(fd, bytes, size));
	EQUAL(op.result, 0x7ffff000);
	end(fd);
	munmap(bytes, size);
}

/* An eventfd takes 8 bytes before Linux 6.8, and refuses others since. */
static void two_values(void)
{
	const uint64_t values[2] = { 1, 1 };
	int fd = eventfd(0, EFD_NONBLOCK);
	ssize_t written = write(fd, values, sizeof(values));
	struct cosy_async op = { 0 };
	uint64_t count;

	if (written > 0)
		EQUAL(read(fd, &count, sizeof(count)), sizeof(count));
	EQUAL(cosy_async_write(loop, &op, fd, values, sizeof(values)), 0);
	EQUAL(result_of(loop, &op), written < 0 ? -EINVAL : written);
	if (written > 0) {
		EQUAL(read(fd, &count, sizeof(count)), sizeof(count));
		EQUAL(count, 1);
	}
	end(fd);
}

int main(void)
{
	loop = make_loop();
	huge();
	two_values();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
