/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * times.h - the time and the CPU time that a program takes.
 */
#ifndef TIMES_H
#define TIMES_H

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "marks.h"

static double times_from[2];

/* Get the time and the CPU time of the process, in seconds. */
static inline void times_now(double now[2])
{
	struct timespec time;
	struct rusage usage;

	clock_gettime(CLOCK_MONOTONIC, &time);
	getrusage(RUSAGE_SELF, &usage);
	now[0] = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
	now[1] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* times_begin() - measure from now on */
static inline void times_begin(void)
{
	times_now(times_from);
	marks_begin();
}

/* times_print() - print the times since times_begin() */
static inline void times_print(void)
{
	double to[2];

	marks_end();
	times_now(to);
	printf("%.3f s, CPU time %.3f s\n", to[0] - times_from[0],
	       to[1] - times_from[1]);
}

#endif /* TIMES_H */
