// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * ls5000-l: the whole `ls -l` of the example, from fork to exit, for the 5,000
 * files of ls5000. The environment says which: COSY_BENCH_LS.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/directory.h"

/* Of all children that have been waited for, in nanoseconds. */
static double cpu_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		bench_die("getrusage");
	return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/*
 * CPU time, because starting a program waits for its file, and an icount guest
 * that waits leaps forward in time.
 */
static double run_ls(void)
{
	const char *ls = getenv("COSY_BENCH_LS");
	double start = cpu_time();
	int status;
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(126);
		execl(ls, ls, "-l", DIRECTORY, (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		bench_die("waitpid");
	if (status) {
		fprintf(stderr, "%s failed (status %d)\n", ls, status);
		exit(1);
	}
	return (cpu_time() - start) / DIRECTORY_FILES;
}

static void prepare(void)
{
	int fd;

	if (!getenv("COSY_BENCH_LS")) {
		fprintf(stderr, "COSY_BENCH_LS is not set\n");
		exit(2);
	}
	directory_make(&fd);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "ls5000-l", .per = "file", .measure = run_ls },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
