/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpus COUNT FILE BYTES WORK READS [POLL] - one thread that waits, and processors that execute
 *
 * 16 reads of the first BYTES bytes of FILE, which is cached, are outstanding. A callback computes
 * for WORK steps and submits the next read, until READS were made. COUNT processors execute the
 * reads (cosy_loop_cpus()), and poll for POLL microseconds before they sleep; with 0 the thread executes
 * them. Prints the time and the CPU time.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cosy/async.h>

#include "times.h"

#define OUTSTANDING	16
#define MAX_CPUS	64

struct reader {
	struct cosy_async op;
	char *block;
	uint32_t sum;
};

static struct reader readers[OUTSTANDING];
static struct cosy_loop *loop;
static unsigned long size, work, left;
static int fd;

static void submit(struct reader *r)
{
	int error = cosy_async_pread(loop, &r->op, fd, r->block, size, 0);

	if (error)
		errx(1, "cosy_async_pread: %d", error);
}

static void done(struct cosy_async *op)
{
	struct reader *r = op->data;

	if (op->result != (int64_t)size)
		errx(1, "read %ld bytes", (long)op->result);
	for (unsigned long i = 0; i < work; i++)
		r->sum = r->sum * 31 + (uint32_t)i;
	if (left) {
		left--;
		submit(r);
	}
}

/* Use the last CPUs that are allowed. The thread that waits stays on the first one. */
static void use_cpus(unsigned int count, uint32_t poll_us)
{
	const struct cosy_cpu_options options = { .size = sizeof(options), .poll_us = poll_us };
	unsigned int cpus[MAX_CPUS], n = 0;
	cpu_set_t set;
	int error;

	if (sched_getaffinity(0, sizeof(set), &set))
		err(1, "sched_getaffinity");
	for (unsigned int i = CPU_SETSIZE; i-- && n < count && n < MAX_CPUS;)
		if (CPU_ISSET(i, &set))
			cpus[n++] = i;
	error = cosy_loop_cpus_with(loop, cpus, n, &options);
	if (error)
		errx(1, "cosy_loop_cpus_with: %d", error);
	for (unsigned int i = 0, first = 1; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (!first)
			CPU_CLR(i, &set);
		first = 0;
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

int main(int argc, char **argv)
{
	unsigned int count;

	if (argc != 6 && argc != 7)
		errx(2, "usage: cpus COUNT FILE BYTES WORK READS [POLL]");
	count = (unsigned int)atoi(argv[1]);
	fd = open(argv[2], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[2]);
	size = strtoul(argv[3], NULL, 0);
	work = strtoul(argv[4], NULL, 0);
	left = strtoul(argv[5], NULL, 0);
	if (cosy_loop_create(&loop, NULL))
		errx(1, "cosy_loop_create failed");
	if (count)
		use_cpus(count, argc == 7 ? (uint32_t)atoi(argv[6]) : 0);
	times_begin();
	for (int i = 0; i < OUTSTANDING; i++) {
		readers[i].op.done = done;
		readers[i].op.data = &readers[i];
		readers[i].block = malloc(size);
		if (!readers[i].block)
			err(1, "malloc");
		submit(&readers[i]);
	}
	if (cosy_loop_run(loop))
		errx(1, "cosy_loop_run failed");
	times_print();
	return cosy_loop_destroy(loop) != 0;
}
