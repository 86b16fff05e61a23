/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.h - the common part of all benchmark programs.
 *
 *	PROGRAM BENCH WAY [-r RUNS] [-n COUNT] [-i] [-d DIR]
 *
 * measures BENCH in one WAY and prints one JSON object. The first run is additional and not
 * counted; with 0 RUNS it is the only one. The ways native, compound and fast are the same
 * code. COSY_EXECUTOR and COSY_FAST select one; libcosy has read them before main().
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/**
 * bench_loop - a loop that is measured
 * @count: iterations
 *
 * Return: the result of the calls, which is compared between the ways.
 */
typedef uint64_t bench_loop(uint64_t count);

/**
 * struct bench - one benchmark of a program
 * @name:	name on the command line
 * @per:	name of an iteration, for readers
 * @count:	iterations of one run, unless the command line has another number
 * @parameter:	value for the loops, see bench_parameter()
 * @region:	ways "native", "compound" and "fast": the loop with the region
 * @native:	way "native", if it is not @region; or NULL
 * @bound:	way "bound": the loop in the kernel, or NULL
 * @io_uring:	way "io_uring", or NULL
 * @io_uring_bpf: way "io_uring-bpf", or NULL
 * @entries:	ways "user" and "entries": operations of a loop, made in user mode or by the
 *		module; or NULL
 * @measure:	replaces the loops: measures one run of bench_way(), and returns the cost
 *		of one @per; or NULL
 * @expected:	returns the result that the loops must have for @count; or NULL
 */
struct bench {
	const char *name;
	const char *per;
	uint64_t count;
	uint64_t parameter;
	bench_loop *region;
	bench_loop *native;
	bench_loop *bound;
	bench_loop *io_uring;
	bench_loop *io_uring_bpf;
	bench_loop *entries;
	double (*measure)(void);
	bench_loop *expected;
};

/**
 * bench_main() - main() of a benchmark program
 * @benches: the benchmarks, up to an entry without a name
 * @prepare: called first, in the directory for the benchmark's files; may be NULL
 *
 * Reports wrong usage and wrong results.
 *
 * Return: the exit status.
 */
int bench_main(int argc, char **argv, const struct bench *benches,
	       void (*prepare)(void));

/**
 * bench_parameter() - return the parameter of the benchmark that is measured
 *
 * Benchmarks with the same loop differ in it: a size, a number of files.
 */
uint64_t bench_parameter(void);

/** bench_way() - return the way that is measured, as on the command line */
const char *bench_way(void);

/**
 * bench_now() - read the clock
 *
 * Return: guest instructions under icount (-i), else nanoseconds.
 */
uint64_t bench_now(void);

/**
 * bench_bound() - run a loop of the bound module
 * @request: COSY_BOUND_...
 * @arg:     struct cosy_bound
 *
 * Return: its sum. Exits if it fails.
 */
struct cosy_bound;
uint64_t bench_bound(unsigned long request, struct cosy_bound *arg);

/**
 * bench_fit() - least squares
 * @x: @y: @n points, at least two with different x
 *
 * Return: the slope.
 */
double bench_fit(const double *x, const double *y, size_t n);

/** bench_die() - report errno and exit */
_Noreturn void bench_die(const char *what);

#endif /* BENCH_H */
