// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * getpid: the null call (Cosy paper, 4.2), in a counted loop.
 */

#include <cosy.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"

static uint64_t region(uint64_t count)
{
	pid_t pid = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		pid = getpid();
	COSY_END;
	return (uint64_t)pid;
}

static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = { .count = count };

	return bench_bound(COSY_BOUND_GETPID, &b);
}

static uint64_t expected(uint64_t count)
{
	(void)count;
	return (uint64_t)getpid();
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "getpid", .per = "call", .count = 50000, .region = region,
		  .bound = bound, .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
