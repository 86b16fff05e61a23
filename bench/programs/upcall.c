// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * upcall: a call of native code in the middle of a compound, which leaves the kernel and
 * enters it again. upcall-200: in a compound that elsewhere has 200 live values at once.
 */

#include <cosy.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../common/bench.h"

#ifdef __COSY_PLUGIN__
#pragma cosy diagnostic ignored "-Wcosy-up-call-in-loop"
#endif

static long add_one(long value)
{
	return value + 1;
}

/* Volatile, so that the compiler neither inlines it nor makes it part of the compound. */
static long (*volatile callback)(long) = add_one;

static uint64_t region(uint64_t count)
{
	long (*function)(long) = callback;
	long value = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		value = function(value);
	/* Never reached. Without a system call, the plugin warns. */
	if (value < 0)
		value = getpid();
	COSY_END;
	return (uint64_t)value;
}

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n) TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) \
	TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define ALL(X) HUNDRED(X, 1) HUNDRED(X, 2)
#define DECLARE(n) long v##n = values[n % 64];
#define CHANGE(n) v##n = (v##n * 3 + i) % 101;
#define ADD(n) + v##n

static volatile long values[64];

static uint64_t region200(uint64_t count)
{
	long (*function)(long) = callback;
	long value = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		value = function(value);
	/* Never reached. */
	if (value < 0) {
		ALL(DECLARE)
		for (i = 0; i < 5; i++) {
			ALL(CHANGE)
			getpid();
		}
		value = 0 ALL(ADD);
	}
	COSY_END;
	return (uint64_t)value;
}

static uint64_t expected(uint64_t count)
{
	return count;
}

/* Measure an ioctl that enters and leaves a driver. Up-calls are compared with it. */
static uint64_t empty_ioctl(uint64_t count)
{
	int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	uint64_t i, refused = 0;

	for (i = 0; i < count; i++)
		refused += ioctl(fd, 0, 0) < 0;
	close(fd);
	return refused;
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "upcall", .per = "up-call", .count = 5000, .region = region,
		  .expected = expected },
		{ .name = "upcall-200", .per = "up-call", .count = 5000, .region = region200,
		  .expected = expected },
		{ .name = "ioctl", .per = "ioctl", .count = 5000, .region = empty_ioctl,
		  .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, NULL);
}
