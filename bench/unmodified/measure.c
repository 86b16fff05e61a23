// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * measure RUNS PREPARE COMMAND...: what a program costs from fork to exit, natively and
 * below libcosy-preload.so, in nanoseconds of CPU time, which under icount are
 * instructions. PREPARE is a shell command that is executed before each run. The
 * library is $COSY_PRELOAD.
 *
 * Prints "NATIVE PRELOADED", the medians, and fails if the outputs differ.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RUNS 100

/* Of all children that have been waited for. */
static long cpu_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		err(1, "getrusage");
	return 1000000000l * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1000l * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Into a file, since some programs do less for /dev/null. */
static long run(char **command, const char *preload, const char *output)
{
	long begin = cpu_time();
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (!child) {
		int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || close(fd) ||
		    (preload && setenv("LD_PRELOAD", preload, 1)))
			_exit(126);
		execvp(*command, command);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "%s failed (status %x)", *command, status);
	return cpu_time() - begin;
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const char *const outputs[] = { "/tmp/native.out", "/tmp/preloaded.out" };
	const char *preload = getenv("COSY_PRELOAD");
	int runs = argc > 3 ? atoi(argv[1]) : 0;
	long times[2][MAX_RUNS];

	if (runs < 1 || runs > MAX_RUNS || !preload)
		errx(1, "usage: COSY_PRELOAD=LIBRARY measure RUNS PREPARE COMMAND...");
	/* The first run is for the caches, and not counted. */
	for (int i = -1; i < runs; i++) {
		for (int way = 0; way < 2; way++) {
			long time;

			if (system(argv[2]))
				errx(1, "%s failed", argv[2]);
			time = run(argv + 3, way ? preload : NULL, outputs[way]);
			if (i >= 0)
				times[way][i] = time;
		}
		if (system("cmp -s /tmp/native.out /tmp/preloaded.out"))
			errx(1, "%s: the outputs differ", argv[3]);
	}
	for (int way = 0; way < 2; way++)
		qsort(times[way], runs, sizeof(long), compare);
	printf("%ld %ld\n", times[0][runs / 2], times[1][runs / 2]);
	return 0;
}
