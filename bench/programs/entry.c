// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * entry: entering and leaving a compound with four inputs and one output, which
 * executes three simple operations. entry-6 executes six; the difference of both is
 * the cost of three operations.
 */

#include <cosy.h>
#include <unistd.h>

#include "../common/bench.h"

#ifdef __COSY_PLUGIN__
#pragma cosy diagnostic ignored "-Wcosy-few-calls"
#endif

/* The system call is never reached. Without it, the plugin warns. */
static __attribute__((noinline)) long three(long a, long b, long c, long d)
{
	long out;

	COSY_START;
	out = (a + b) ^ c;
	if (d == 0)
		out = getpid();
	COSY_END;
	return out;
}

static __attribute__((noinline)) long six(long a, long b, long c, long d)
{
	long out;

	COSY_START;
	out = ((((a + b) ^ c) + a) ^ b) + c;
	if (d == 0)
		out = getpid();
	COSY_END;
	return out;
}

static uint64_t region3(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += (uint64_t)three((long)i, 2, 3, 1);
	return sum;
}

static uint64_t region6(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += (uint64_t)six((long)i, 2, 3, 1);
	return sum;
}

static uint64_t expected3(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += (i + 2) ^ 3;
	return sum;
}

static uint64_t expected6(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += ((((i + 2) ^ 3) + i) ^ 2) + 3;
	return sum;
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "entry", .per = "entry", .count = 10000, .region = region3,
		  .expected = expected3 },
		{ .name = "entry-6", .per = "entry", .count = 10000, .region = region6,
		  .expected = expected6 },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
