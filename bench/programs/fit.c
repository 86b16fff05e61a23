// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * fit1 ... fit256: compounds of so many getpid() calls each, from which the cost
 * of the entry, of each call and the break-even follow (Cosy paper, figure 2).
 */

#include <cosy.h>
#include <unistd.h>

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

static uint64_t repeat(long n, uint64_t count)
{
	uint64_t pid = 0;

	for (uint64_t i = 0; i < count; i++)
		pid = (uint64_t)calls(n);
	return pid;
}

static uint64_t region1(uint64_t count) { return repeat(1, count); }
static uint64_t region2(uint64_t count) { return repeat(2, count); }
static uint64_t region4(uint64_t count) { return repeat(4, count); }
static uint64_t region5(uint64_t count) { return repeat(5, count); }
static uint64_t region8(uint64_t count) { return repeat(8, count); }
static uint64_t region10(uint64_t count) { return repeat(10, count); }
static uint64_t region16(uint64_t count) { return repeat(16, count); }
static uint64_t region20(uint64_t count) { return repeat(20, count); }
static uint64_t region32(uint64_t count) { return repeat(32, count); }
static uint64_t region50(uint64_t count) { return repeat(50, count); }
static uint64_t region64(uint64_t count) { return repeat(64, count); }
static uint64_t region100(uint64_t count) { return repeat(100, count); }
static uint64_t region128(uint64_t count) { return repeat(128, count); }
static uint64_t region256(uint64_t count) { return repeat(256, count); }

static uint64_t expected(uint64_t count)
{
	(void)count;
	return (uint64_t)getpid();
}

#define FIT(N) \
	{ .name = "fit" #N, .per = "compound of " #N " calls", .count = 20000 / (N), \
	  .region = region##N, .expected = expected }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		FIT(1), FIT(2), FIT(4), FIT(5), FIT(8), FIT(10), FIT(16), FIT(20), FIT(32),
		FIT(50), FIT(64), FIT(100), FIT(128), FIT(256), { 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
