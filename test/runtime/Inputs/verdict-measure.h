/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures the regions of verdict-regions.c, each in a process of its own.
 */
#ifndef VERDICT_MEASURE_H
#define VERDICT_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verdict-tree.h"

static int compare_ticks(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* Return the ticks of an entry. The verdict's line goes to @line, if it is not NULL. */
static long measured(const char *program, const char *executor, const char *name, char *line)
{
	const char *stats = TREE ".stats";
	char command[512];
	FILE *file;
	long ticks;

	unlink(stats);
	snprintf(command, sizeof(command), "%s%s COSY_EXECUTOR=%s %s --run %s",
		 line ? "COSY_STATS=" : "", line ? stats : "", executor, program, name);
	file = popen(command, "r");
	if (!file || fscanf(file, "%ld", &ticks) != 1 || pclose(file))
		fail(command);
	if (!line)
		return ticks;
	file = fopen(stats, "r");
	if (!file || !fgets(line, 512, file))
		fail(stats);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return ticks;
}

/*
 * Measure a region natively and in the kernel. The addresses that a process gets, and the hash chains
 * of the kernel, change both by 2 %. If the difference is not much more, it is that of medians.
 */
static void measure_both(const char *self, const char *plain, const char *name, long *native,
			 long *kernel)
{
	long long of_native[3], of_kernel[3];

	for (int i = 0; i < 3; i++) {
		of_native[i] = measured(plain, "auto", name, NULL);
		of_kernel[i] = measured(self, "kernel", name, NULL);
		*native = of_native[0];
		*kernel = of_kernel[0];
		if (labs(*native - *kernel) * 20 > *native)
			return;
	}
	qsort(of_native, 3, sizeof(*of_native), compare_ticks);
	qsort(of_kernel, 3, sizeof(*of_kernel), compare_ticks);
	*native = of_native[1];
	*kernel = of_kernel[1];
}

#endif
