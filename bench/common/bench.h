/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.h - what every benchmark program shares.
 *
 *	PROGRAM BENCH WAY [-r RUNS] [-n COUNT] [-i] [-d DIR]
 *
 * measures BENCH one WAY and prints one JSON object. A run that is not counted comes
 * before; with 0 RUNS it is the only one. Native, compound and fast are
 * the same code; which of them it is say COSY_EXECUTOR and COSY_FAST, which libcosy
 * read before main() began.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/**
 * bench_loop - a loop that is measured
 * @count: iterations
 *
 * Return: what the calls gave, to be compared between the ways.
 */
typedef uint64_t bench_loop(uint64_t count);

/**
 * struct bench - one benchmark of a program
 * @name:	as on the command line
 * @per:	what one iteration is, for people
 * @count:	iterations of one run, if the command line does not say
 * @parameter:	for the loops, see bench_parameter()
 * @region:	ways "native", "compound" and "fast": the loop with the region
 * @native:	way "native", if it is something else than that, or NULL
 * @bound:	way "bound": the loop in the kernel, or NULL
 * @io_uring:	way "io_uring", or NULL
 * @entries:	ways "user", "entries" and "loops": operations of a loop, made in user
 *		mode, in batches by the module, or by a loop of the module, or NULL
 * @measure:	instead of the loops: measures one run itself, bench_way() says which
 *		way, and returns the cost of one @per; may be NULL
 * @expected:	what the loops must return for @count, or NULL if anything goes
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
	bench_loop *entries;
	double (*measure)(void);
	bench_loop *expected;
};

/**
 * bench_main() - main() of a benchmark program
 * @benches: what it can measure, up to an entry without a name
 * @prepare: called before, in the directory for the benchmark's files; may be NULL
 *
 * Return: exit status; wrong usage and wrong results are reported.
 */
int bench_main(int argc, char **argv, const struct bench *benches,
	       void (*prepare)(void));

/**
 * bench_parameter() - that of the benchmark being measured
 *
 * For what makes one loop several benchmarks: a size, a number of files.
 */
uint64_t bench_parameter(void);

/** bench_way() - the way that is being measured, as on the command line */
const char *bench_way(void);

/**
 * bench_now() - the clock
 *
 * Guest instructions under icount (-i), else nanoseconds.
 */
uint64_t bench_now(void);

/**
 * bench_bound() - run a loop of the bound module
 * @request: COSY_BOUND_...
 * @arg:     struct cosy_bound
 *
 * Return: its sum. Leaves the program if it fails.
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

/** bench_die() - report errno and leave */
_Noreturn void bench_die(const char *what);

#endif /* BENCH_H */
