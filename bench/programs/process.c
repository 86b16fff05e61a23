// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Whole programs, from fork to exit. COSY_BENCH_EXAMPLES is the directory of the examples.
 *
 * ls5000-l, ls50000-l	`ls -l` of 5,000 or 50,000 files
 * ls0-l		`ls -l` of an empty directory: what starting it costs
 * grep, grep-SIZE	`grep -rc` over files of 8 KiB; SIZE is the total
 * grep-kernel		the same with --search=kernel
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/directory.h"

#define EXAMPLES	"COSY_BENCH_EXAMPLES"
#define OUTPUT		"process.out"

#define GREP_FILE	8192		/* bytes, of lines of 64 */
#define GREP_FOLDER	256		/* files */
#define LINE		64

static const char *directory;

/* Return the CPU time of all children that have been waited for, in nanoseconds. */
static double cpu_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		bench_die("getrusage");
	return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/*
 * Return the CPU time of a program. Not the time, because starting a program waits for its
 * file, and the clock of an icount guest jumps forward while it waits. The output goes to a
 * file, because grep does less for /dev/null.
 */
static double run(const char *name, char *const arguments[])
{
	double start = cpu_time();
	char path[4096];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", getenv(EXAMPLES), name);
	pid = fork();
	if (pid < 0)
		bench_die("fork");
	if (pid == 0) {
		int out = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (out < 0 || dup2(out, STDOUT_FILENO) < 0)
			_exit(126);
		execv(path, arguments);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		bench_die("waitpid");
	if (status) {
		fprintf(stderr, "%s failed (status %d)\n", path, status);
		exit(1);
	}
	return cpu_time() - start;
}

static double run_ls(void)
{
	char *const arguments[] = { "ls", "-l", (char *)directory, NULL };

	return run("ls", arguments);
}

static double run_ls_files(void) { return run_ls() / (double)bench_parameter(); }

static double grep(char *search)
{
	char *const arguments[] = { "grep", search, "-rc", "needle", (char *)directory, NULL };

	return run("grep", arguments) / (double)bench_parameter();
}

static double run_grep(void) { return grep("--search=batch"); }
static double run_grep_kernel(void) { return grep("--search=kernel"); }

/* Make the text of a file. grep finds one line in each fourth file. */
static void make_text(char *text, uint64_t file)
{
	for (size_t at = 0; at < GREP_FILE; at += LINE) {
		for (size_t i = 0; i < LINE - 1; i++)
			text[at + i] = (char)('a' + (file + at / LINE + i) % 26);
		text[at + LINE - 1] = '\n';
	}
	if (file % 4 == 0)
		memcpy(text + file % (GREP_FILE / LINE) * LINE, "needle", 6);
}

/* Make the files, unless they exist. */
static void make_files(uint64_t files)
{
	static char path[96];
	char text[GREP_FILE];

	snprintf(path, sizeof(path), "grep%" PRIu64 ".data", files);
	directory = strdup(path);
	if (mkdir(directory, 0700) && errno != EEXIST)
		bench_die(directory);
	for (uint64_t i = 0; i < files; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%" PRIu64, directory, i / GREP_FOLDER);
		if (i % GREP_FOLDER == 0 && mkdir(path, 0700) && errno != EEXIST)
			bench_die(path);
		snprintf(path, sizeof(path), "%s/%" PRIu64 "/%" PRIu64, directory,
			 i / GREP_FOLDER, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		make_text(text, i);
		if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text))
			bench_die(path);
		close(fd);
	}
}

static void make_directory(void)
{
	int fd;

	directory_make(bench_parameter(), &fd, &directory);
	close(fd);
}

static bool is_grep;

static void prepare(void)
{
	if (!getenv(EXAMPLES)) {
		fprintf(stderr, EXAMPLES " is not set\n");
		exit(2);
	}
	if (is_grep)
		make_files(bench_parameter());
	else
		make_directory();
}

#define LS(FILES) \
	{ .name = "ls" #FILES "-l", .per = "file", .parameter = (FILES), .measure = run_ls_files }
#define GREP(TEXT, KIB, RUN) \
	{ .name = "grep" TEXT, .per = "file", .parameter = (KIB) * 1024 / GREP_FILE, \
	  .measure = RUN }

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		LS(5000), LS(50000), { .name = "ls0-l", .per = "process", .measure = run_ls },
		GREP("", 2048, run_grep),
		GREP("-kernel", 2048, run_grep_kernel), GREP("-128K", 128, run_grep),
		GREP("-512K", 512, run_grep), GREP("-20M", 20480, run_grep),
		GREP("-200M", 204800, run_grep), { 0 },
	};

	is_grep = argc > 1 && !strncmp(argv[1], "grep", strlen("grep"));
	return bench_main(argc, argv, benches, prepare);
}
