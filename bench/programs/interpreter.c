// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * interpreter: loops that only compute, for the user executor: sieve (loads and stores),
 * collatz (unpredictable branches), fnv (a chain of operations that depend on each other).
 */

#include <cosy.h>
#include <unistd.h>

#include "../common/bench.h"

#ifdef __COSY_PLUGIN__
#pragma cosy diagnostic ignored "-Wcosy-few-calls"
#endif

#define SIZE 65536

static volatile unsigned char flags[SIZE];

static uint64_t sieve(uint64_t n)
{
	uint64_t count = 0, i, j;

	COSY_START;
	for (i = 0; i < SIZE; i++)
		flags[i] = 1;
	for (i = 2; i < SIZE; i++) {
		if (!flags[i])
			continue;
		count++;
		for (j = i + i; j < SIZE; j += i)
			flags[j] = 0;
	}
	/* Never reached. Without a system call, the plugin warns. */
	if (n == 0)
		count = (uint64_t)getpid();
	COSY_END;
	return count;
}

static uint64_t collatz(uint64_t n)
{
	uint64_t total = 0, i, x;

	COSY_START;
	for (i = 1; i <= n; i++) {
		for (x = i; x != 1; total++) {
			if (x & 1)
				x = 3 * x + 1;
			else
				x >>= 1;
		}
	}
	if (n == 0)
		total = (uint64_t)getpid();
	COSY_END;
	return total;
}

static uint64_t fnv(uint64_t n)
{
	uint64_t hash = 0xcbf29ce484222325, i;

	COSY_START;
	for (i = 0; i < n; i++) {
		hash ^= i & 0xff;
		hash *= 0x100000001b3;
	}
	if (n == 0)
		hash = (uint64_t)getpid();
	COSY_END;
	return hash;
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "sieve", .per = "number", .count = SIZE, .region = sieve },
		{ .name = "collatz", .per = "start", .count = 300, .region = collatz },
		{ .name = "fnv", .per = "step", .count = 10000, .region = fnv },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
