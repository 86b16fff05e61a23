// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * openclose: open a file and close it; the second call needs the result of the first.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <fcntl.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"
#include "../common/file.h"
#include "../common/uring.h"

#define PATH "openclose.data"

static uint64_t region(uint64_t count)
{
	int ret = -1;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		ret = close(open(PATH, O_RDONLY));
	COSY_END;
	return ret == 0;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = {
		.count = count,
		.path = (uintptr_t)PATH,
	};

	bench_bound(COSY_BOUND_OPENCLOSE, &b);
	return 1;
}

/*
 * A ring cannot pass one operation's descriptor to the next, so the file is opened in a fixed
 * slot: a direct descriptor, which costs less than an ordinary one.
 */
static uint64_t uring(uint64_t count)
{
	const int pairs = URING_BATCH / 2;

	for (uint64_t i = 0; i < count; i += (unsigned int)pairs) {
		for (int j = 0; j < pairs; j++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_OPENAT;
			sqe->flags = IOSQE_IO_LINK;
			sqe->fd = AT_FDCWD;
			sqe->addr = (uintptr_t)PATH;
			sqe->open_flags = O_RDONLY;
			sqe->file_index = (unsigned int)j + 1;
			sqe = uring_sqe();
			sqe->opcode = IORING_OP_CLOSE;
			sqe->file_index = (unsigned int)j + 1;
		}
		uring_submit();
	}
	return 1;
}

static uint64_t expected(uint64_t count)
{
	(void)count;
	return 1;
}

static void prepare(void)
{
	close(file_make(PATH, 0, 0));
	uring_open();
	uring_register_files(URING_BATCH / 2);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "openclose", .per = "open and close", .count = 1600, .region = region,
		  .bound = bound, .io_uring = uring, .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
