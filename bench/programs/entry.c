// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * entry: entering and leaving a compound with four inputs and one output, which
 * does as little as a compound can.
 */

#include <cosy.h>
#include <unistd.h>

#include "../common/bench.h"

/* Not inlined: the inputs must be unknown. */
static __attribute__((noinline)) long once(long a, long b, long c, long d)
{
	long out;

	COSY_START;
	out = a + b + c + d;
	COSY_END;
	return out;
}

static uint64_t region(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += (uint64_t)once(1, 2, 3, (long)i);
	return sum;
}

static uint64_t expected(uint64_t count)
{
	return 6 * count + count * (count - 1) / 2;
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "entry", .per = "entry", .count = 5000, .region = region,
		  .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
