/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h - the share of a CPU beside another task. Included after compound.h.
 */
#ifndef COSY_TEST_SHARE_H
#define COSY_TEST_SHARE_H

#include <time.h>

/*
 * A VM under emulation sometimes loses time to its host. So a condition with a time limit is tried
 * again for this time, in seconds of now().
 */
#define PATIENCE 600

static double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Count time for a second. Return: this task's share of the CPU, and in @gap the longest wait. */
static double count_time(double *gap)
{
	double share = cpu_time(), start = now(), last = start;

	*gap = 0;
	while (last - start < 1) {
		double t = now();

		if (t - last > *gap)
			*gap = t - last;
		last = t;
	}
	return (cpu_time() - share) / (last - start);
}

#endif /* COSY_TEST_SHARE_H */
