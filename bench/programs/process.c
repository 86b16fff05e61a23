// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * ls5000-l: the whole `ls -l` of the example, from fork to exit, for the 5,000
 * files of ls5000. The environment says which: COSY_BENCH_LS.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/directory.h"

static uint64_t run_ls(uint64_t count)
{
	const char *ls = getenv("COSY_BENCH_LS");

	for (uint64_t i = 0; i < count; i += DIRECTORY_FILES) {
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
		if (status)
			return 0;
	}
	return count;
}

static uint64_t expected(uint64_t count)
{
	return count;
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
		{ .name = "ls5000-l", .per = "file", .count = DIRECTORY_FILES, .region = run_ls,
		  .expected = expected },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
