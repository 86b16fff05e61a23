// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * bench.c - command line, clock, repetition and result of a benchmark program.
 */

#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../bound/cosy_bound.h"

#define MAX_RUNS 100

static bool icount;
static const struct bench *selected;
static const char *selected_way;

void bench_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t bench_parameter(void)
{
	return selected->parameter;
}

const char *bench_way(void)
{
	return selected_way;
}

/*
 * Under icount the time-stamp counter counts instructions. CLOCK_MONOTONIC is derived from it
 * by a frequency that the guest calibrated, so it is not exact.
 */
uint64_t bench_now(void)
{
	struct timespec ts;

	if (icount)
		return __builtin_ia32_rdtsc();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t bench_bound(unsigned long request, struct cosy_bound *arg)
{
	static int fd = -1;

	if (fd < 0) {
		fd = open(COSY_BOUND_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			bench_die(COSY_BOUND_DEVICE);
	}
	if (ioctl(fd, request, arg))
		bench_die("the bound module's loop");
	return arg->sum;
}

double bench_fit(const double *x, const double *y, size_t n)
{
	double mean_x = 0, mean_y = 0, xy = 0, xx = 0;

	for (size_t i = 0; i < n; i++) {
		mean_x += x[i] / (double)n;
		mean_y += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xy += (x[i] - mean_x) * (y[i] - mean_y);
		xx += (x[i] - mean_x) * (x[i] - mean_x);
	}
	return xy / xx;
}

static double measure(const struct bench *bench, bench_loop *loop, uint64_t count)
{
	uint64_t start, end, result, expected;

	if (bench->measure)
		return bench->measure();

	start = bench_now();
	result = loop(count);
	end = bench_now();
	if (bench->expected) {
		expected = bench->expected(count);
		if (result != expected) {
			fprintf(stderr, "%s: the loop returned %" PRIu64 ", not %" PRIu64 "\n",
				bench->name, result, expected);
			exit(1);
		}
	}
	return (double)(end - start) / (double)count;
}

static bench_loop *loop_of(const struct bench *bench, const char *way)
{
	if (bench->native && !strcmp(way, "native"))
		return bench->native;
	if (!strcmp(way, "native") || !strcmp(way, "compound") || !strcmp(way, "fast"))
		return bench->region;
	if (!strcmp(way, "bound"))
		return bench->bound;
	if (!strcmp(way, "io_uring"))
		return bench->io_uring;
	if (!strcmp(way, "io_uring-bpf"))
		return bench->io_uring_bpf;
	if (!strcmp(way, "user") || !strcmp(way, "entries"))
		return bench->entries;
	return NULL;
}

static _Noreturn void usage(const char *program, const struct bench *benches)
{
	fprintf(stderr, "usage: %s BENCH native|compound|fast|bound|io_uring|io_uring-bpf|user|entries|functions|"
		"module [-r RUNS] [-n COUNT] [-i] [-d DIR]\nBENCH:", program);
	for (; benches->name; benches++)
		fprintf(stderr, " %s", benches->name);
	fputc('\n', stderr);
	exit(2);
}

int bench_main(int argc, char **argv, const struct bench *benches,
	       void (*prepare)(void))
{
	const struct bench *bench = benches;
	double runs[MAX_RUNS];
	bench_loop *loop;
	uint64_t count = 0;
	long nruns = 7;
	int option;

	if (argc < 3)
		usage(argv[0], benches);
	while (bench->name && strcmp(bench->name, argv[1]))
		bench++;
	if (!bench->name)
		usage(argv[0], benches);
	loop = loop_of(bench, argv[2]);
	if (!loop && !bench->measure) {
		fprintf(stderr, "%s: %s has no way '%s'\n", argv[0], argv[1], argv[2]);
		return 2;
	}

	optind = 3;
	while ((option = getopt(argc, argv, "r:n:id:")) != -1) {
		switch (option) {
		case 'r':
			nruns = strtol(optarg, NULL, 10);
			break;
		case 'n':
			count = strtoull(optarg, NULL, 10);
			break;
		case 'i':
			icount = true;
			break;
		case 'd':
			if (chdir(optarg))
				bench_die(optarg);
			break;
		default:
			usage(argv[0], benches);
		}
	}
	if (nruns < 0 || nruns > MAX_RUNS || optind != argc)
		usage(argv[0], benches);
	if (!count)
		count = bench->count;

	selected = bench;
	selected_way = argv[2];
	if (prepare)
		prepare();
	/* The first run fills the caches and loads pages and the compound. It is not counted. */
	measure(bench, loop, count);
	for (long i = 0; i < nruns; i++)
		runs[i] = measure(bench, loop, count);

	printf("{\"bench\": \"%s\", \"way\": \"%s\", \"metric\": \"%s\", \"per\": \"%s\", \"runs\": [",
	       bench->name, argv[2], icount ? "guest_instructions" : "ns", bench->per);
	for (long i = 0; i < nruns; i++)
		printf("%s%.2f", i ? ", " : "", runs[i]);
	printf("]}\n");
	return 0;
}
