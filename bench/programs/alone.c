// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * alone WAY GAP COUNT - how long one operation takes that another CPU executes
 *
 * The program, on its first CPU, reads 4 KiB of a cached file, COUNT times. It waits for each read,
 * and computes for GAP microseconds before the next one. WAY says how the read is made:
 *
 *	call		by pread()
 *	loop		as an operation of a loop, executed by the thread that waits
 *	cpu		as one that a processor executes, on the last CPU
 *	core		the processor polls for 1 ms before it sleeps
 *	core-spin	the same, and the program polls, too
 *	uring		by io_uring
 *	sqpoll		by a thread of io_uring that polls, on the last CPU (IORING_SETUP_SQPOLL)
 *	sqpoll-spin	the same, and the program polls, too
 *
 * Prints the median, the 90th and the 99th percentile of the time from before the read is submitted to
 * after it is complete; the CPU time of the process for each read; and the time that the processor has
 * polled in vain for each read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cosy/async.h>

#include "../common/bench.h"
#include "../common/uring.h"

#define SIZE	4096
#define POLL_US	1000

static struct cosy_loop *loop;
static char block[SIZE];
static int file;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void check(long error, const char *what)
{
	if (error < 0) {
		errno = (int)-error;
		bench_die(what);
	}
}

static void read_by_call(void)
{
	if (pread(file, block, SIZE, 0) != SIZE)
		bench_die("pread");
}

static void read_by_loop(bool spins)
{
	struct cosy_async op = { 0 };

	check(cosy_async_pread(loop, &op, file, block, SIZE, 0), "cosy_async_pread");
	while (cosy_async_pending(&op))
		check(cosy_wait(loop, !spins, NULL), "cosy_wait");
	check(op.result, "an operation");
}

static void wait_for_read(void)
{
	read_by_loop(false);
}

static void spin_for_read(void)
{
	read_by_loop(true);
}

static void read_by_ring(void)
{
	uring_rw(IORING_OP_READ, file, block, SIZE, 0);
	uring_submit();
}

static void read_by_poller(bool spins)
{
	struct io_uring_cqe cqe;

	uring_rw(IORING_OP_READ, file, block, SIZE, 0);
	uring_enter_polled(spins ? 0 : 1);
	while (!uring_next(&cqe))
		;
	check(cqe.res, "an operation in the ring");
}

static void wait_for_poller(void)
{
	read_by_poller(false);
}

static void spin_for_poller(void)
{
	read_by_poller(true);
}

static const struct way {
	const char *name;
	void (*read)(void);
	bool has_loop, has_cpu, polls, has_ring;
} ways[] = {
	{ "call", read_by_call, false, false, false, false },
	{ "loop", wait_for_read, true, false, false, false },
	{ "cpu", wait_for_read, true, true, false, false },
	{ "core", wait_for_read, true, true, true, false },
	{ "core-spin", spin_for_read, true, true, true, false },
	{ "uring", read_by_ring, false, false, false, true },
	{ "sqpoll", wait_for_poller, false, false, true, true },
	{ "sqpoll-spin", spin_for_poller, false, false, true, true },
};

/* Make what a way needs, on the CPU @cpu, which may be that of this thread. */
static void open_way(const struct way *way, unsigned int cpu)
{
	const struct cosy_cpu_options options = { .size = sizeof(options),
						  .poll_us = way->polls ? POLL_US : 0 };

	if (way->has_loop)
		check(cosy_loop_create(&loop, NULL), "cosy_loop_create");
	if (way->has_cpu)
		check(cosy_loop_cpus_with(loop, &cpu, 1, &options), "cosy_loop_cpus_with");
	if (way->has_ring && way->polls)
		uring_open_polled(POLL_US / 1000, cpu);
	else if (way->has_ring)
		uring_open();
}

/* Find the first and the last CPU that are allowed, and let this thread run on the first one. */
static unsigned int choose_cpus(unsigned int *first)
{
	unsigned int last = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		bench_die("sched_getaffinity");
	*first = CPU_SETSIZE;
	for (unsigned int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (*first == CPU_SETSIZE)
			*first = i;
		last = i;
	}
	return last;
}

static void stay_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("sched_setaffinity");
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print(uint32_t *times, unsigned long count, uint64_t cpu_ns)
{
	struct cosy_loop_info info = { 0 };

	if (loop)
		check(cosy_loop_info(loop, &info, sizeof(info)), "cosy_loop_info");
	qsort(times, count, sizeof(*times), compare);
	printf("%.2f us, 90 %%: %.2f, 99 %%: %.2f; CPU time %.2f us, polled in vain %.2f us\n",
	       times[count / 2] / 1e3, times[count * 9 / 10] / 1e3, times[count * 99 / 100] / 1e3,
	       (double)cpu_ns / 1e3 / (double)count,
	       (double)info.polled_ns / 1e3 / (double)count);
}

static void measure(const struct way *way, uint64_t gap, unsigned long count)
{
	uint32_t *times = malloc(count * sizeof(*times));
	uint64_t from, cpu_from;

	if (!times)
		bench_die("malloc");
	for (int i = 0; i < 100; i++)
		way->read();
	cpu_from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned long i = 0; i < count; i++) {
		for (from = clock_ns(CLOCK_MONOTONIC); clock_ns(CLOCK_MONOTONIC) - from < gap;)
			;
		from = clock_ns(CLOCK_MONOTONIC);
		way->read();
		times[i] = (uint32_t)(clock_ns(CLOCK_MONOTONIC) - from);
	}
	print(times, count, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_from);
	free(times);
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 0) : 0;
	unsigned int first, last;
	size_t i = 0;

	while (argc == 4 && i < sizeof(ways) / sizeof(*ways) && strcmp(argv[1], ways[i].name))
		i++;
	if (!count || i == sizeof(ways) / sizeof(*ways)) {
		fprintf(stderr, "usage: alone call|loop|cpu|core|core-spin|uring|sqpoll|sqpoll-spin "
			"GAP COUNT\n");
		return 2;
	}
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		bench_die("/proc/self/exe");
	last = choose_cpus(&first);
	open_way(&ways[i], last);
	stay_on(first);
	measure(&ways[i], strtoul(argv[2], NULL, 0) * 1000, count);
	return loop && cosy_loop_destroy(loop);
}
