// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * dbsim.c - the Cosy paper's simulation of a database: transactions on random
 * records of a file, two reads for each write, by one process or several.
 */
#include "../common/output.h"
#include "../common/progress.h"
#include "../common/usage.h"
#include "table.h"

#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Transactions until progress is due. */
enum { STEP = 262144 };

enum { MAX_PROCESSES = 1024 };

static struct {
	const char *path;
	uint64_t records, transactions, seed;
	size_t size;
	unsigned int processes;
	bool keep, time, progress;
} options = {
	.records = 4096,
	.transactions = 100000,
	.seed = 1,
	.size = 4096,
	.processes = 1,
};

/* Return part @i of @n parts of @total. The sum of all parts is @total. */
static uint64_t part(uint64_t total, unsigned int i, unsigned int n)
{
	return total / n + (i < total % n);
}

/* Return the beginning of part @i. */
static uint64_t part_start(uint64_t total, unsigned int i, unsigned int n)
{
	return total / n * i + (i < total % n ? i : total % n);
}

static void show_made(uint64_t records)
{
	if (options.progress)
		progress_show_part("making the table", records, options.records);
}

static void show_checked(uint64_t records)
{
	if (options.progress)
		progress_show_part("checking the table", records,
				   options.records);
}

/* The work of one process: its part of the transactions, on its own records. */
static struct table_counts work(unsigned int i)
{
	unsigned int n = options.processes;
	uint64_t first = part_start(options.records, i, n);
	uint64_t number = part(options.records, i, n);
	uint64_t count = part(options.transactions, i, n), done = 0, step;
	struct table_counts counts = { 0 };
	struct table table;

	table_open(&table, options.path, options.size, options.records);
	for (; done < count; done += step) {
		step = count - done < STEP ? count - done : STEP;
		table_run(&table, first, number,
			  options.seed + part_start(options.transactions, i, n) +
				  done, step, &counts);
		if (options.progress && i == 0)
			progress_show_part("transactions", done + step, count);
	}
	if (i == 0)
		progress_clear();
	table_close(&table);
	return counts;
}

/* Starts process @i. Returns the descriptor from which its counts are read. */
static int start(unsigned int i)
{
	struct table_counts counts;
	pid_t parent = getpid(), pid;
	int pipes[2];

	if (pipe(pipes) < 0)
		error(1, errno, "cannot start a process");
	pid = fork();
	if (pid < 0)
		error(1, errno, "cannot start a process");
	if (pid > 0) {
		close(pipes[1]);
		return pipes[0];
	}
	/* Its counts are not needed after the first process has ended. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	counts = work(i);
	_exit(write(pipes[1], &counts, sizeof(counts)) != sizeof(counts));
}

static struct table_counts work_together(void)
{
	struct table_counts counts = { 0 }, theirs;
	int from[MAX_PROCESSES];

	if (options.processes == 1)
		return work(0);
	for (unsigned int i = 0; i < options.processes; i++)
		from[i] = start(i);
	for (unsigned int i = 0; i < options.processes; i++) {
		if (read(from[i], &theirs, sizeof(theirs)) != sizeof(theirs))
			exit(1);
		counts.reads += theirs.reads;
		counts.writes += theirs.writes;
		counts.sum += theirs.sum;
		close(from[i]);
		wait(NULL);
	}
	return counts;
}

static uint64_t number(const char *text, const char *what, uint64_t min,
		       uint64_t max)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n < min || n > max) {
		error(0, 0, "invalid %s '%s': from %" PRIu64 " to %" PRIu64,
		      what, text, min, max);
		fail_usage();
	}
	return n;
}

static void print_help(void)
{
	printf("Usage: %s [OPTION]... FILE\n", program_invocation_name);
	fputs("Make FILE a table of records, do transactions on it - read a record chosen at\n"
	      "random, and every other time count it up and write it back - and check that all\n"
	      "of them are in the table.\n"
	      "\n"
	      "  -k, --keep               FILE is there, made with the same -r and -s: use it\n"
	      "  -p, --processes=NUMBER   share the records and the work (1)\n"
	      "      --progress           show on standard error how far it is; the default\n"
	      "                           where that is a terminal\n"
	      "  -r, --records=NUMBER     records in the table (4096)\n"
	      "  -s, --size=BYTES         of a record, a multiple of 8 (4096)\n"
	      "      --seed=NUMBER        which records are chosen (1)\n"
	      "  -t, --transactions=NUMBER  how many (100000)\n"
	      "      --time               print the seconds the transactions took\n"
	      "      --help               print this and exit\n"
	      "      --version            print the version and exit\n"
	      "\n"
	      "Exit status: 0 the table is as it has to be, 1 it is not, or an error.\n",
	      stdout);
}

static void parse_options(int argc, char **argv)
{
	enum { HELP = 256, PROGRESS, SEED, TIME, VERSION };
	static const struct option longs[] = {
		{ "help", no_argument, NULL, HELP },
		{ "keep", no_argument, NULL, 'k' },
		{ "processes", required_argument, NULL, 'p' },
		{ "progress", no_argument, NULL, PROGRESS },
		{ "records", required_argument, NULL, 'r' },
		{ "seed", required_argument, NULL, SEED },
		{ "size", required_argument, NULL, 's' },
		{ "time", no_argument, NULL, TIME },
		{ "transactions", required_argument, NULL, 't' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	options.progress = isatty(STDERR_FILENO);
	while ((option = getopt_long(argc, argv, "kp:r:s:t:", longs, NULL)) != -1) {
		switch (option) {
		case 'k':
			options.keep = true;
			break;
		case 'p':
			options.processes = number(optarg, "number of processes",
						   1, MAX_PROCESSES);
			break;
		case 'r':
			options.records = number(optarg, "number of records", 1,
						 UINT32_MAX);
			break;
		case 's':
			options.size = number(optarg, "record size",
					      TABLE_RECORD_MIN, 1 << 20);
			if (options.size % 8) {
				error(0, 0, "invalid record size '%s': not a multiple of 8",
				      optarg);
				fail_usage();
			}
			break;
		case 't':
			options.transactions = number(optarg, "number of transactions",
						      0, INT64_MAX);
			break;
		case PROGRESS:
			options.progress = true;
			break;
		case SEED:
			options.seed = number(optarg, "seed", 0, UINT64_MAX);
			break;
		case TIME:
			options.time = true;
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("dbsim (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
	if (optind + 1 != argc) {
		error(0, 0, optind == argc ? "missing file operand" :
					     "one file operand, not more");
		fail_usage();
	}
	if (options.processes > options.records) {
		error(0, 0, "more processes than records");
		fail_usage();
	}
	options.path = argv[optind];
}

static uint64_t total(void)
{
	struct table table;
	uint64_t sum;

	table_open(&table, options.path, options.size, options.records);
	sum = table_total(&table, show_checked);
	progress_clear();
	table_close(&table);
	return sum;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct table_counts counts;
	uint64_t before = 0, after;

	parse_options(argc, argv);
	if (options.keep)
		before = total();
	else
		table_create(options.path, options.size, options.records,
			     show_made);
	progress_clear();
	clock_gettime(CLOCK_MONOTONIC, &start);
	counts = work_together();
	clock_gettime(CLOCK_MONOTONIC, &end);
	after = total();
	printf("%" PRIu64 " reads, %" PRIu64 " writes, counts read %" PRIu64
	       ", counts in the table %" PRIu64 "\n",
	       counts.reads, counts.writes, counts.sum, after);
	if (options.time)
		printf("%.3f seconds\n", end.tv_sec - start.tv_sec +
					 (end.tv_nsec - start.tv_nsec) / 1e9);
	if (after - before != counts.writes)
		error(1, 0, "the table has %" PRIu64 " counts more, not %" PRIu64,
		      after - before, counts.writes);
	output_finish(0, 1);
}
