/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operation transfers no more bytes than its system call: at most MAX_RW_COUNT.
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

int main(void)
{
	loop = make_loop();
	huge();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
