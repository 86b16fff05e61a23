/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpus.h - the processors of tests whose loops have some.
 */
#ifndef CPUS_H
#define CPUS_H

#include <sched.h>

#include "loop.h"

#define MAX_CPUS	64

/* The processors that this process may use. */
static unsigned int cpus[MAX_CPUS];
static unsigned int ncpus;

static inline void find_cpus(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	EQUAL(sched_getaffinity(0, sizeof(set), &set), 0);
	ncpus = 0;
	for (unsigned int i = 0; i < CPU_SETSIZE && ncpus < MAX_CPUS; i++)
		if (CPU_ISSET(i, &set))
			cpus[ncpus++] = i;
}

#endif /* CPUS_H */
