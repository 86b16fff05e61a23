/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The cost of deciding whether a region gains. After 1,000 entries, a region that loses takes at
 * most 1 % more instructions than natively, and one that gains takes no more than with the kernel
 * executor. On one CPU that counts instructions, so that the figures do not depend on the host.
 */
// REQUIRES: long
// RUN: %compile -O2 %s -o %t -l:libcosy.a
// RUN: %root/scripts/vm/run --icount -- %t | FileCheck %s
// CHECK: single: right, {{.*}} instructions natively
// CHECK: few: right, {{.*}} instructions natively
// CHECK: up-calls: right, {{.*}} instructions natively
// CHECK: calls: right, {{.*}} instructions in the kernel
// CHECK: calls and an up-call: right, {{.*}} instructions in the kernel
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "region.h"

#define ENTRIES	1000

static void add_one(uint64_t *frame)
{
	frame[2]++;
}

REGION(calls, CALLS, 12)
REGION(parts, PARTS, 30, add_one)
REGION(single, SINGLE, 40)

static __attribute__((noinline)) uint64_t make_calls(uint64_t n)
{
	uint64_t frame[4] = { n };
	uint64_t sum = 0;

	if (run(&calls, frame) == 0)
		return frame[1];
	while (n--)
		sum += (uint64_t)getpid();
	left(&calls);
	return sum;
}

static __attribute__((noinline)) uint64_t make_parts(uint64_t n, uint64_t ups)
{
	uint64_t frame[5] = { n, ups, 0 };

	if (run(&parts, frame) == 0)
		return frame[2];
	while (n--)
		frame[2] += (uint64_t)getpid();
	while (ups--)
		add_one(frame);
	left(&parts);
	return frame[2];
}

static __attribute__((noinline)) uint64_t make_single(void)
{
	uint64_t frame[2];

	if (run(&single, frame) == 0)
		return frame[0];
	frame[0] = (uint64_t)getpid();
	left(&single);
	return frame[0];
}

static void run_single(void)
{
	make_single();
}

static void run_few(void)
{
	make_calls(1);
}

static void run_upcalls(void)
{
	make_parts(10, 10);
}

static void run_calls(void)
{
	make_calls(20);
}

static void run_both(void)
{
	make_parts(20, 1);
}

static const struct test {
	const char *name;
	void (*function)(void);
	const char *than;	/* the executor of the comparison */
	double most;		/* maximum part of its instructions */
	unsigned int count;
} tests[] = {
	{ "single", run_single, "native", 1.01, 5000 },
	{ "few", run_few, "native", 1.01, 5000 },
	{ "up-calls", run_upcalls, "native", 1.01, 5000 },
	{ "calls", run_calls, "kernel", 1.002, 5000 },
	{ "calls and an up-call", run_both, "kernel", 1.005, 5000 },
};

/* A separate program for each executor, because the environment is read once. */
static double instructions(const char *program, const struct test *test,
			   const char *executor)
{
	char command[512];
	double result;
	FILE *file;

	snprintf(command, sizeof(command), "COSY_EXECUTOR=%s %s '%s'", executor,
		 program, test->name);
	file = popen(command, "r");
	CHECK(file);
	EQUAL(fscanf(file, "%lf", &result), 1);
	EQUAL(pclose(file), 0);
	return result;
}

static void measure(const struct test *test)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ENTRIES; i++)
		test->function();
	for (int i = 0; i < 5; i++) {
		uint64_t begin = __rdtsc(), spent;

		for (unsigned int j = 0; j < test->count; j++)
			test->function();
		spent = __rdtsc() - begin;
		best = spent < best ? spent : best;
	}
	printf("%f\n", (double)best / test->count);
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		const struct test *test = &tests[i];
		double ours, other;

		if (argc > 1) {
			if (!strcmp(argv[1], test->name))
				measure(test);
			continue;
		}
		ours = instructions(argv[0], test, "auto");
		other = instructions(argv[0], test, test->than);
		printf("%s: %s, %.1f instructions, %.1f instructions %s\n", test->name,
		       ours <= other * test->most ? "right" : "wrong", ours, other,
		       strcmp(test->than, "native") ? "in the kernel" : "natively");
		failed |= ours > other * test->most;
	}
	return failed;
}
