// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * grep.c - print lines that contain fixed strings, as GNU grep -F does in the
 * C locale.
 *
 * Opening, reading and closing files takes most of the time. The Cosy regions in reader.c
 * and ../common/dirlist.c do that. With --search=kernel, the region in reader.c also tests
 * which files have a match.
 */
#include "reader.h"
#include "search.h"
#include "../common/output.h"
#include "../common/walk.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MATCH = 0, NO_MATCH = 1, TROUBLE = 2 };

/* Files that are collected from a tree before they are read. */
enum { BATCH = 1024 };

static const char standard_input[] = "(standard input)";

static struct {
	struct search_options search;
	bool quiet, list, recursive, no_messages;
	bool with_names, without_names;
	bool in_kernel;		/* filter in the kernel */
} options;

static struct filter *filter;

static bool prefix;		/* print file names before lines */
static bool matched, troubled;

/* Standard output, if it is a file: it must not be searched while it grows. */
static struct stat output;
static bool output_is_file;

static void trouble(const char *path, int number)
{
	troubled = true;
	if (!options.no_messages)
		error(0, number, "%s", path);
}

static void trouble_output(const char *path)
{
	troubled = true;
	if (!options.no_messages)
		error(0, 0, "%s: input file is also the output", path);
}

_Noreturn static void finish(int status)
{
	output_finish(status, TROUBLE);
}

/* Prints the result of a file after its search. */
static void conclude(const struct search *search)
{
	if (search->matches) {
		matched = true;
		if (options.quiet)
			finish(MATCH);
	}
	if (options.search.count) {
		if (search->prefix)
			printf("%s:", search->path);
		printf("%ju\n", search->matches);
	} else if (options.list && search->matches) {
		puts(search->path);
	}
}

/* Returns true if a whole file may have a match. Other files are not searched for lines. */
static bool may_match(const struct reader_chunk *chunk)
{
	return !filter || options.in_kernel ||
	       filter_passes(filter, (unsigned char *)chunk->data,
			     chunk->length);
}

/* Searches the files of a queue. Files that are not regular go to a callback. */
static void search_files(struct reader *reader,
			 void (*special)(const char *path))
{
	struct search search = { 0 };
	struct reader_chunk chunk;

	while (reader_next(reader, &chunk)) {
		size_t consumed;

		switch (chunk.state) {
		case READER_FAILED:
			trouble(chunk.path, chunk.error);
			continue;
		case READER_OUTPUT:
			trouble_output(chunk.path);
			continue;
		case READER_SPECIAL:
			special(chunk.path);
			continue;
		case READER_PART:
		case READER_END:
		case READER_BROKEN:
			break;
		}
		if (!search.path) {
			if (chunk.state == READER_END && !may_match(&chunk))
				chunk.length = 0;
			search = (struct search){
				.path = chunk.path,
				.prefix = prefix,
				.binary = chunk.sparse,
			};
		}
		consumed = search_data(&search, chunk.data, chunk.length,
				       chunk.state != READER_PART);
		if (chunk.state == READER_PART) {
			reader_consume(reader, consumed);
			if (!search.done)
				continue;
			reader_skip(reader);
		}
		if (chunk.state == READER_BROKEN) {
			trouble(chunk.path, chunk.error);
			consumed = chunk.length;
		}
		search_end(&search, chunk.data + consumed,
			   chunk.length - consumed);
		conclude(&search);
		search.path = NULL;
	}
}

/* Reads the rest without searching, so that the writer is not killed by SIGPIPE. */
static void drain(int fd, char *buffer)
{
	if (lseek(fd, 0, SEEK_END) < 0)
		while (read(fd, buffer, SEARCH_WINDOW) > 0)
			;
}

/*
 * Return true if a regular file that is read from its middle has a hole after the offset.
 */
static bool has_hole_ahead(int fd, const struct stat *status)
{
	off_t here, hole;

	if (!S_ISREG(status->st_mode))
		return false;
	here = lseek(fd, 0, SEEK_CUR);
	if (here < 0 || here >= status->st_size)
		return false;
	hole = lseek(fd, here, SEEK_HOLE);
	lseek(fd, here, SEEK_SET);
	return hole >= 0 && hole < status->st_size;
}

/*
 * Searches pipes, terminals, devices and standard input while they are read. There is no
 * region, because each read may wait, and its data must be searched at once.
 */
static void search_stream(int fd, const char *path)
{
	struct search search = { .path = path, .prefix = prefix };
	size_t length = 0, size = 0, consumed;
	struct stat status;
	char *data = NULL;
	ssize_t n = 0;

	if (fstat(fd, &status) < 0) {
		trouble(path, errno);
		return;
	}
	if (output_is_file && status.st_dev == output.st_dev &&
	    status.st_ino == output.st_ino) {
		trouble_output(path);
		return;
	}
	for (bool first = true; !search.done; first = false) {
		if (size < length + SEARCH_WINDOW + 1) {
			size = 2 * (length + SEARCH_WINDOW + 1);
			data = realloc(data, size);
			if (!data)
				error(TROUBLE, errno, "%s", path);
		}
		n = read(fd, data + length, SEARCH_WINDOW);
		if (n <= 0)
			break;
		length += n;
		if (first)
			search.binary = has_hole_ahead(fd, &status);
		consumed = search_data(&search, data, length, true);
		length -= consumed;
		memmove(data, data + consumed, length);
	}
	if (n < 0) {
		trouble(path, errno);
		length = 0;
	}
	search_end(&search, data, length);
	conclude(&search);
	if (search.done && fd == STDIN_FILENO)
		drain(fd, data);
	free(data);
}

static void start_reader(struct reader *reader)
{
	reader_init(reader, output_is_file ? &output : NULL,
		    !search_selects_empty_lines(),
		    options.in_kernel ? filter : NULL);
}

static void no_special(const char *path)
{
	(void)path;
}

static void tree_file(void *reader, const char *path)
{
	reader_add(reader, path, false);
	if (reader_waiting(reader) >= BATCH)
		search_files(reader, no_special);
}

static void tree_trouble(void *reader, const char *path, int number)
{
	/* The output of earlier files comes first. */
	search_files(reader, no_special);
	trouble(path, number);
}

static void search_tree(const char *root)
{
	static const struct walk_actions actions = {
		.file = tree_file,
		.fail = tree_trouble,
	};
	struct reader reader;

	prefix = !options.without_names;
	start_reader(&reader);
	walk_tree(root, &actions, &reader);
	search_files(&reader, no_special);
	reader_free(&reader);
}

static void search_special(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY);
	struct stat status;

	if (fd < 0) {
		trouble(path, errno);
	} else if (options.recursive && fstat(fd, &status) == 0 &&
		   S_ISDIR(status.st_mode)) {
		close(fd);
		search_tree(path);
	} else {
		search_stream(fd, path);
		close(fd);
	}
}

static void search_operands(char *const *operands, int count)
{
	struct reader reader;

	prefix = options.with_names || (count > 1 && !options.without_names);
	start_reader(&reader);
	for (int i = 0; i < count; i++) {
		if (strcmp(operands[i], "-") != 0) {
			reader_add(&reader, operands[i], true);
			continue;
		}
		search_files(&reader, search_special);
		search_stream(STDIN_FILENO, standard_input);
	}
	search_files(&reader, search_special);
	reader_free(&reader);
}

static void look_at_output(void)
{
	struct stat null;

	if (fstat(STDOUT_FILENO, &output) < 0)
		return;
	/* The lines are not read, so the first one of each file determines the status. */
	if (S_ISCHR(output.st_mode) && stat("/dev/null", &null) == 0 &&
	    output.st_dev == null.st_dev && output.st_ino == null.st_ino)
		options.search.first_only = true;
	output_is_file = S_ISREG(output.st_mode);
}

static void print_help(void)
{
	fputs("Usage: grep [OPTION]... PATTERNS [FILE]...\n"
	      "Print the lines of FILEs that contain one of PATTERNS, which are fixed strings,\n"
	      "separated by newlines. FILE - is standard input. Without FILE, standard input is\n"
	      "searched, with -r the working directory.\n"
	      "\n"
	      "  -c, --count               print how many lines of each file match\n"
	      "  -e, --regexp=PATTERNS     search for PATTERNS; may be repeated\n"
	      "  -F, --fixed-strings       accepted, always on\n"
	      "  -h, --no-filename         print no file names before lines\n"
	      "  -H, --with-filename       print file names before lines\n"
	      "  -i, --ignore-case         A is a\n"
	      "  -l, --files-with-matches  print only the names of files that match\n"
	      "  -n, --line-number         print line numbers before lines\n"
	      "  -q, --quiet, --silent     print nothing, stop at the first match\n"
	      "  -r, --recursive           search the files below directories; symbolic links\n"
	      "                            are followed only where they are a FILE\n"
	      "  -s, --no-messages         do not report files that cannot be read\n"
	      "  -v, --invert-match        print the lines that do not match\n"
	      "      --search=WHERE        batch: read many files, then search them, the default;\n"
	      "                            kernel: while they are read, and pass on only files\n"
	      "                            with a match; not for -v and empty patterns\n"
	      "      --help                print this and exit\n"
	      "  -V, --version             print the version and exit\n"
	      "\n"
	      "The output is that of GNU grep -F with LC_ALL=C, but for the order of files in\n"
	      "directories of more than 10,000 entries, which GNU grep sorts by inode.\n"
	      "\n"
	      "Exit status: 0 a line matched, 1 none did, 2 there was an error (unless a line\n"
	      "matched and -q was given).\n", stdout);
}

_Noreturn static void wrong_usage(void)
{
	fputs("Usage: grep [OPTION]... PATTERNS [FILE]...\n"
	      "Try 'grep --help' for more information.\n", stderr);
	exit(TROUBLE);
}

/* Appends patterns, separated by a newline, to those before. */
static char *add_patterns(char *patterns, const char *more)
{
	char *all;

	if (asprintf(&all, "%s%s%s", patterns ? patterns : "",
		     patterns ? "\n" : "", more) < 0)
		error(TROUBLE, errno, "cannot search");
	free(patterns);
	return all;
}

/* Long options without a letter. */
enum { HELP = 256, SEARCH };

/* Takes an option without patterns. */
static void set_option(int option)
{
	switch (option) {
	case 'c':
		options.search.count = true;
		break;
	case 'F':
		break;
	case 'h':
		options.with_names = false;
		options.without_names = true;
		break;
	case 'H':
		options.with_names = true;
		options.without_names = false;
		break;
	case 'i':
		options.search.ignore_case = true;
		break;
	case 'l':
		options.list = true;
		break;
	case 'n':
		options.search.numbers = true;
		break;
	case 'q':
		options.quiet = true;
		break;
	case 'r':
		options.recursive = true;
		break;
	case 's':
		options.no_messages = true;
		break;
	case 'v':
		options.search.invert = true;
		break;
	case 'V':
		puts("grep (Cosy examples) " COSY_EXAMPLES_VERSION);
		finish(MATCH);
	case SEARCH:
		options.in_kernel = strcmp(optarg, "kernel") == 0;
		if (!options.in_kernel && strcmp(optarg, "batch") != 0)
			wrong_usage();
		break;
	case HELP:
		print_help();
		finish(MATCH);
	default:
		wrong_usage();
	}
}

/* Returns the patterns. The arguments from optind on are the operands. */
static char *parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "count", no_argument, NULL, 'c' },
		{ "regexp", required_argument, NULL, 'e' },
		{ "fixed-strings", no_argument, NULL, 'F' },
		{ "no-filename", no_argument, NULL, 'h' },
		{ "with-filename", no_argument, NULL, 'H' },
		{ "ignore-case", no_argument, NULL, 'i' },
		{ "files-with-matches", no_argument, NULL, 'l' },
		{ "line-number", no_argument, NULL, 'n' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "silent", no_argument, NULL, 'q' },
		{ "recursive", no_argument, NULL, 'r' },
		{ "no-messages", no_argument, NULL, 's' },
		{ "invert-match", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "search", required_argument, NULL, SEARCH },
		{ "help", no_argument, NULL, HELP },
		{ 0 },
	};
	char *patterns = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "ce:FhHilnqrsvV", longs,
				     NULL)) != -1) {
		if (option == 'e')
			patterns = add_patterns(patterns, optarg);
		else
			set_option(option);
	}
	if (!patterns) {
		if (optind == argc)
			wrong_usage();
		patterns = add_patterns(NULL, argv[optind++]);
	}
	return patterns;
}

int main(int argc, char **argv)
{
	char *patterns = parse_options(argc, argv);

	options.search.first_only = options.quiet || options.list;
	look_at_output();
	if (options.search.first_only)
		options.search.count = false;
	output_is_file &= !options.search.first_only && !options.search.count;
	/* Every line contains the empty string. */
	if (options.search.invert && !*patterns)
		finish(NO_MATCH);
	search_init(patterns, &options.search);
	if (!options.search.invert && !search_selects_empty_lines())
		filter = filter_new(patterns, options.search.ignore_case,
				    options.in_kernel);
	free(patterns);

	if (optind < argc)
		search_operands(argv + optind, argc - optind);
	else if (options.recursive)
		search_tree(NULL);
	else
		search_operands((char *[]){ "-" }, 1);
	finish(troubled ? TROUBLE : matched ? MATCH : NO_MATCH);
}
