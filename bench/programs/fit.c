// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * fit1 ... fit256: compounds of 1 to 256 getpid() calls. The cost of the entry, the cost of a
 * call and the break-even are computed from them (Cosy paper, figure 2).
 */

#include <cosy.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"
#include "../common/bench.h"

static __attribute__((noinline)) int calls(long n)
{
	int pid = 0;
	long i;

	COSY_START;
	for (i = 0; i < n; i++)
		pid = getpid();
	COSY_END;
	return pid;
}

static uint64_t region(uint64_t count)
{
	const long n = (long)bench_parameter();
	uint64_t pid = 0;

	for (uint64_t i = 0; i < count; i++)
		pid = (uint64_t)calls(n);
	return pid;
}

/* Make one entry for the calls of each compound. */
static uint64_t bound(uint64_t count)
{
	struct cosy_bound b = { .count = bench_parameter() };
	uint64_t pid = 0;

	for (uint64_t i = 0; i < count; i++)
		pid = bench_bound(COSY_BOUND_GETPID, &b);
	return pid;
}

static uint64_t expected(uint64_t count)
{
	(void)count;
	return (uint64_t)getpid();
}

#define FIT(N) \
	{ .name = "fit" #N, .per = "compound of " #N " calls", .count = 20000 / (N), \
	  .parameter = (N), .region = region, .bound = bound, .expected = expected }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		FIT(1), FIT(2), FIT(4), FIT(5), FIT(8), FIT(10), FIT(16), FIT(20), FIT(32),
		FIT(50), FIT(64), FIT(100), FIT(128), FIT(256), { 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
