// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * measure [-n RUNS] [-o DIRECTORY] [-a SETTING] [-b SETTING] [-p PREPARE]
 *	   [-r RESULT] COMMAND...
 *
 * Measures a program from fork to exit in two environments, in nanoseconds of CPU time, which
 * under icount are instructions. SETTING is NAME=VALUE; without it the environment is not
 * changed. The shell executes PREPARE before each run and RESULT after it, which prints the
 * effects of the program. Outputs go to files in DIRECTORY.
 *
 * Prints the two medians, and fails if an output or a result differs.
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

static const char *const files[2] = { "without.out", "with.out" };

/* Return the CPU time of all children that have been waited for. */
static long cpu_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		err(1, "getrusage");
	return 1000000000l * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1000l * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* fork(), with the child's output in @fd. */
static pid_t start(int fd)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child && dup2(fd, STDOUT_FILENO) < 0)
		_exit(126);
	return child;
}

/* Wait for @child, and return its status from waitpid(). */
static int finish(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	return status;
}

/*
 * Return the environment with @setting. It is made before the fork: a child that changes its
 * environment copies pages, and these 100,000 instructions would be measured.
 */
static char **environment(char *setting)
{
	size_t name = strcspn(setting, "=") + 1, size = 0, n = 0;
	char **copy;

	while (environ[size])
		size++;
	copy = calloc(size + 2, sizeof(*copy));
	if (!copy)
		err(1, "environment");
	copy[n++] = setting;
	for (size_t i = 0; i < size; i++) {
		if (strncmp(environ[i], setting, name))
			copy[n++] = environ[i];
	}
	return copy;
}

/* Execute @command with its output in @fd; return its CPU time. */
static long run(char **command, char **variables, int fd)
{
	long begin = cpu_time();
	pid_t child = start(fd);
	int status;

	if (!child) {
		/* Not execvpe(): it does not look in the PATH of @variables. */
		environ = variables;
		execvp(*command, command);
		_exit(127);
	}
	status = finish(child);
	if (status)
		errx(1, "%s failed (status %x)", *command, status);
	return cpu_time() - begin;
}

/* Execute @command by the shell, unless it is NULL. */
static void shell(const char *command, int fd)
{
	pid_t child;

	if (!command)
		return;
	child = start(fd);
	if (!child) {
		execlp("sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (finish(child))
		errx(1, "%s failed", command);
}

/* Compare the files in @dir with the outputs of @command. */
static void compare_files(int dir, const char *command)
{
	pid_t child = start(STDOUT_FILENO);

	if (!child) {
		if (!fchdir(dir))
			execlp("cmp", "cmp", "-s", files[0], files[1], NULL);
		_exit(127);
	}
	if (finish(child))
		errx(1, "%s: the outputs differ", command);
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const char *prepare = NULL, *result = NULL, *outputs = ".";
	char nothing[] = "MEASURE=", *settings[2] = { nothing, nothing }, **environments[2];
	long times[2][MAX_RUNS];
	int runs = 1, dir, option;

	while ((option = getopt(argc, argv, "+n:o:a:b:p:r:")) != -1) {
		switch (option) {
		case 'n':
			runs = atoi(optarg);
			break;
		case 'o':
			outputs = optarg;
			break;
		case 'a':
		case 'b':
			if (*optarg)
				settings[option - 'a'] = optarg;
			break;
		case 'p':
			prepare = optarg;
			break;
		case 'r':
			result = optarg;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	if (!*argv || runs < 1 || runs > MAX_RUNS)
		errx(2, "usage: measure [-n RUNS] [-o DIRECTORY] [-a SETTING] [-b SETTING] [-p PREPARE] [-r RESULT] COMMAND...");
	dir = open(outputs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		err(1, "%s", outputs);

	for (int way = 0; way < 2; way++)
		environments[way] = environment(settings[way]);
	/* The first run fills the caches, and is not counted. */
	for (int i = -1; i < runs; i++) {
		for (int way = 0; way < 2; way++) {
			/* A file, because some programs do less for /dev/null. */
			int fd = openat(dir, files[way],
					O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
					0600);
			long time;

			if (fd < 0)
				err(1, "%s/%s", outputs, files[way]);
			shell(prepare, fd);
			time = run(argv, environments[way], fd);
			shell(result, fd);
			close(fd);
			if (i >= 0)
				times[way][i] = time;
		}
		compare_files(dir, *argv);
	}
	for (int way = 0; way < 2; way++)
		qsort(times[way], runs, sizeof(long), compare);
	printf("%ld %ld\n", times[0][runs / 2], times[1][runs / 2]);
	return 0;
}
