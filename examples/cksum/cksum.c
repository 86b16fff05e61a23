// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cksum.c - print checksums of files and trees, as GNU cksum does.
 *
 * The Cosy region in sum.c reads the files and computes their sums. Those in
 * ../common/dirlist.c walk trees.
 */
#include "../common/output.h"
#include "../common/progress.h"
#include "../common/quote.h"
#include "../common/usage.h"
#include "../common/walk.h"
#include "sum.h"

#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	enum sum_algorithm algorithm;
	bool recursive, progress;
} options;

static struct sum sum;
static int exit_status;

static void show_progress(void *context)
{
	(void)context;
	if (options.progress)
		progress_show(sum.finished, sum.bytes);
}

static void complain(const char *path, int number)
{
	progress_clear();
	error(0, number, "%s", quote_if_needed(path));
	exit_status = 1;
}

static void report(void *context, const struct sum_file *file)
{
	(void)context;
	if (file->error) {
		complain(file->path, file->error);
		return;
	}
	progress_clear();
	printf("%" PRIu32 " %" PRIu64 " %s\n", file->value, file->size,
	       file->path);
}

static void found_file(void *context, const char *path)
{
	(void)context;
	sum_add(&sum, path);
}

static void failed(void *context, const char *path, int number)
{
	(void)context;
	sum_flush(&sum);
	complain(path, number);
}

static void sum_operand(const char *path)
{
	static const struct walk_actions actions = { found_file, failed };
	struct stat status;

	if (options.recursive && stat(path, &status) == 0 &&
	    S_ISDIR(status.st_mode))
		walk_tree(path, &actions, NULL);
	else
		sum_add(&sum, path);
}

/* A file read from standard input by default has no name. */
static void report_unnamed(void *context, const struct sum_file *file)
{
	if (file->error)
		report(context, file);
	else
		printf("%" PRIu32 " %" PRIu64 "\n", file->value, file->size);
}

static void print_help(void)
{
	printf("Usage: %s [OPTION]... [FILE]...\n", program_invocation_name);
	fputs("Print the checksum, the size in bytes and the name of each FILE; - or no FILE is\n"
	      "standard input.\n"
	      "\n"
	      "  -a, --algorithm=TYPE     crc (the default): that of POSIX; adler32: that of zlib\n"
	      "      --progress           show on standard error how far it is; the default\n"
	      "                           where that is a terminal and the output is not\n"
	      "  -r, --recursive          all regular files below directories\n"
	      "      --help               print this and exit\n"
	      "      --version            print the version and exit\n"
	      "\n"
	      "Exit status: 0 all was read, 1 something was not, or wrong usage.\n",
	      stdout);
}

static void parse_options(int argc, char **argv)
{
	enum { HELP = 256, PROGRESS, VERSION };
	static const struct option longs[] = {
		{ "algorithm", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, HELP },
		{ "progress", no_argument, NULL, PROGRESS },
		{ "recursive", no_argument, NULL, 'r' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	options.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
	while ((option = getopt_long(argc, argv, "a:r", longs, NULL)) != -1) {
		switch (option) {
		case 'a':
			if (strcmp(optarg, "adler32") == 0) {
				options.algorithm = SUM_ADLER;
			} else if (strcmp(optarg, "crc") == 0) {
				options.algorithm = SUM_CRC;
			} else {
				error(0, 0, "invalid argument %s for '--algorithm'\n"
				      "Valid arguments are:\n"
				      "  - 'crc'\n"
				      "  - 'adler32'", quote(optarg));
				fail_usage();
			}
			break;
		case 'r':
			options.recursive = true;
			break;
		case PROGRESS:
			options.progress = true;
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("cksum (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	sum_init(&sum, options.algorithm,
		 optind < argc ? report : report_unnamed, show_progress, NULL);
	if (optind == argc)
		sum_add(&sum, "-");
	for (; optind < argc; optind++)
		sum_operand(argv[optind]);
	sum_flush(&sum);
	sum_free(&sum);
	progress_clear();
	output_finish(exit_status, 1);
}
