/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ranges are taken, used, given to another colour and freed without a page fault, once there are
 * enough. A worker gets back what it has freed last. A range for which there is no memory is not taken.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %thread-sanitizer
// RUN: COSY_EXECUTOR=user %bounded %t tsan
#include <sys/resource.h>

#include <cosy/range.h>

#include "check.h"
#include "filter-call.h"
#include "team.h"

#define SIZE	(256u << 10)

static struct cosy_team *team;
static struct cosy_ranges *ranges;
static atomic_int left;
static atomic_long faulted;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Use the range on whatever worker has this colour now. */
static void use(void *arg)
{
	struct cosy_range *range = arg;
	const long before = faults();

	for (size_t i = 0; i < range->used; i += 64)
		EQUAL(range->start[i], 'x');
	cosy_range_free(ranges, range);
	range = cosy_range_take(ranges);
	/* It is the one that was freed. */
	CHECK(range == arg);
	EQUAL(range->used, 0);
	memset(cosy_range_alloc(range, SIZE), 'x', SIZE);
	CHECK(!cosy_range_alloc(range, 1));
	faulted += faults() - before;
	if (atomic_fetch_sub(&left, 1) > 1)
		EQUAL(cosy_team_call(team, cosy_team_colour() * 31 + 7, use, range), 0);
	else
		cosy_range_free(ranges, range);
}

static void pass(void)
{
	left = 2000;
	for (uint64_t i = 0; i < 8; i++) {
		struct cosy_range *range = cosy_range_take(ranges);

		CHECK(range != NULL);
		memset(cosy_range_alloc(range, SIZE), 'x', SIZE);
		EQUAL(cosy_team_call(team, i, use, range), 0);
	}
	EQUAL(cosy_team_wait(team, NULL), 0);
}

static struct cosy_ranges_info info_of_ranges(void)
{
	struct cosy_ranges_info info;

	cosy_ranges_info(ranges, &info, sizeof(info));
	return info;
}

static void alloc(void)
{
	struct cosy_range *range = cosy_range_take(ranges);
	char *a = cosy_range_alloc(range, 1), *b = cosy_range_alloc(range, SIZE - 16);

	CHECK(a == range->start);
	CHECK(b == range->start + 16);
	CHECK(!cosy_range_alloc(range, 1));
	CHECK(!cosy_range_alloc(range, SIZE_MAX));
	CHECK(cosy_range_alloc(range, 0) == range->start + SIZE);
	cosy_range_free(ranges, range);
	cosy_range_free(ranges, NULL);
}

static void free_it(void *range)
{
	cosy_range_free(ranges, range);
}

/* All ranges are taken; those that a worker keeps can be taken by others. */
static void exhaust(void)
{
	struct cosy_range *taken[10];

	for (int i = 0; i < 10; i++) {
		taken[i] = cosy_range_take(ranges);
		CHECK(taken[i] != NULL);
		for (int j = 0; j < i; j++)
			CHECK(taken[i] != taken[j]);
	}
	CHECK(!cosy_range_take(ranges));
	EQUAL(errno, ENOMEM);
	EQUAL(cosy_team_call(team, 1, free_it, taken[0]), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	CHECK(cosy_range_take(ranges) == taken[0]);
	EQUAL(info_of_ranges().taken, 10);
	for (int i = 0; i < 10; i++)
		cosy_range_free(ranges, taken[i]);
	EQUAL(info_of_ranges().taken, 0);
	EQUAL(info_of_ranges().populated, 10);
}

/* All ranges are in the program's memory, which stays when they are destroyed. */
static void memory_of_the_program(void)
{
	struct cosy_ranges_options options = { .struct_size = sizeof(options), .size = 1u << 16,
					       .count = 3 };
	char *memory = aligned_alloc(1u << 16, 3u << 16);
	struct cosy_ranges *other;

	memset(memory, 'x', 3u << 16);
	options.memory = memory;
	EQUAL(cosy_ranges_create(&other, &options), 0);
	for (int i = 0; i < 3; i++)
		CHECK(cosy_range_take(other)->start == memory + ((size_t)i << 16));
	CHECK(!cosy_range_take(other));
	cosy_ranges_destroy(other);
	for (size_t i = 0; i < 3u << 16; i++)
		EQUAL(memory[i], 'x');
	options.memory = memory + 1;
	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	options.memory = memory;
	options.flags = COSY_RANGES_HUGE;
	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	free(memory);
}

/* What could not be populated is populated when it is taken again, or is not taken again. */
static void without_memory(void)
{
	const struct cosy_ranges_options options = { .struct_size = sizeof(options), .size = SIZE,
						     .count = 1 };
	struct cosy_ranges *other;
	int status;
	const pid_t pid = fork();

	if (!pid) {
		EQUAL(cosy_ranges_create(&other, &options), 0);
		filter_call(SYS_madvise, SECCOMP_RET_ERRNO | ENOMEM);
		for (int i = 0; i < 3; i++) {
			CHECK(!cosy_range_take(other));
			EQUAL(errno, ENOMEM);
		}
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
}

static void refused(void)
{
	struct cosy_ranges_options options = { .struct_size = sizeof(options), .flags = 2 };
	struct cosy_ranges *other;

	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	options.flags = 0;
	options.size = (size_t)1 << 40;
	options.count = 1000;
	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	options.size = SIZE_MAX;
	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	options.size = 1;
	options.ready = 1001;
	EQUAL(cosy_ranges_create(&other, &options), -EINVAL);
	options.ready = 0;
	EQUAL(cosy_ranges_create(&other, &options), 0);
	EQUAL(cosy_range_take(other)->size, sysconf(_SC_PAGESIZE));
	cosy_ranges_destroy(other);
	cosy_ranges_destroy(NULL);
	options = (struct cosy_ranges_options){ .struct_size = sizeof(options),
						.flags = COSY_RANGES_HUGE, .size = 2u << 20,
						.count = 3, .ready = 2 };
	EQUAL(cosy_ranges_create(&other, &options), 0);
	EQUAL((uintptr_t)cosy_range_take(other)->start % (2u << 20), 0);
	cosy_ranges_destroy(other);
}

int main(int argc, char **argv)
{
	const struct cosy_ranges_options options = { .struct_size = sizeof(options), .size = SIZE,
						     .count = 10, .ready = 8 };

	(void)argv;
	alarm(600);
	EQUAL(cosy_ranges_create(&ranges, &options), 0);
	EQUAL(info_of_ranges().populated, 8);
	team = make_team(3);
	pass();
	faulted = 0;
	pass();
	/* 128,000 pages were written. A worker may use a page of its stack for the first time. */
	if (argc == 1)
		CHECK(faulted < 100);
	EQUAL(info_of_ranges().populated, 8);
	CHECK(info_of_ranges().recycled > 2000);
	alloc();
	exhaust();
	memory_of_the_program();
	without_memory();
	refused();
	EQUAL(cosy_team_destroy(team), 0);
	cosy_ranges_destroy(ranges);
	return 0;
}
