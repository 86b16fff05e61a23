// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * ls.c - list files and directories, as GNU ls does in the C locale when its
 * output is not a terminal.
 *
 * The slow part of `ls -l` is to take the status of every file. The Cosy regions in
 * ../common/dirlist.c do that.
 */
#include "../common/allocated.h"
#include "../common/dirlist.h"
#include "lines.h"
#include "long-format.h"
#include "../common/output.h"
#include "../common/quote.h"

#include <dirent.h>
#include <error.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit statuses: a file in a directory, or an operand, could not be read. */
enum { MINOR_TROUBLE = 1, SERIOUS_TROUBLE = 2 };

enum order { BY_NAME, BY_SIZE, BY_TIME };

static struct {
	bool all, directory, long_format, recursive, reverse;
	enum order order;
	struct long_options long_options;
} options;

static int exit_status;

static void complain(bool operand, int number, const char *what,
		     const char *path)
{
	error(0, number, "cannot %s %s", what, quote(path));
	if (operand)
		exit_status = SERIOUS_TROUBLE;
	else if (!exit_status)
		exit_status = MINOR_TROUBLE;
}

static void *allocate(size_t count, size_t size)
{
	return allocated(reallocarray(NULL, count ? count : 1, size), SERIOUS_TROUBLE);
}

/* Returns the path of an entry for messages. */
static char *message_path(const char *directory, const char *name)
{
	if (!directory || strcmp(directory, ".") == 0)
		return allocated(strdup(name), SERIOUS_TROUBLE);
	return dirlist_join(directory, name);
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static int compare_names(const struct dirlist_entry *left,
			 const struct dirlist_entry *right, const char *names)
{
	return strcmp(names + left->name, names + right->name);
}

static int compare(const void *a, const void *b, void *names)
{
	const struct dirlist_entry *left = *(const struct dirlist_entry *const *)a;
	const struct dirlist_entry *right = *(const struct dirlist_entry *const *)b;
	int order = 0;

	/* The largest or the newest first. */
	if (options.order == BY_SIZE)
		order = (left->status.st_size < right->status.st_size) -
			(left->status.st_size > right->status.st_size);
	else if (options.order == BY_TIME)
		order = compare_times(&right->status.st_mtim,
				      &left->status.st_mtim);
	if (!order)
		order = compare_names(left, right, names);
	return options.reverse ? -order : order;
}

static void reverse(const struct dirlist_entry **entries, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		const struct dirlist_entry *entry = entries[i];

		entries[i] = entries[count - 1 - i];
		entries[count - 1 - i] = entry;
	}
}

/*
 * Returns the entries first … first + count, sorted; the caller frees the array. Files are
 * often created in the order of their names. Some file systems list them in the order of
 * creation, others the newest first.
 */
static const struct dirlist_entry **sort(const struct dirlist *list,
					 size_t first, size_t count)
{
	const struct dirlist_entry **sorted = allocate(count, sizeof(*sorted));
	bool up = options.order == BY_NAME && !options.reverse, down = up;

	for (size_t i = 0; i < count; i++) {
		sorted[i] = &list->entries[first + i];
		if (i && (up || down)) {
			int order = compare_names(sorted[i - 1], sorted[i],
						  list->names);

			up = up && order <= 0;
			down = down && order > 0;
		}
	}
	if (up)
		return sorted;
	if (down)
		reverse(sorted, count);
	else
		qsort_r(sorted, count, sizeof(*sorted), compare, list->names);
	return sorted;
}

/* Reports errors of entries. @directory is NULL for the operands. */
static void report(const struct dirlist *list, const char *directory,
		   const struct dirlist_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct dirlist_entry *entry = &entries[i];
		char *path;

		if (!entry->status_error && !entry->target_error)
			continue;
		path = message_path(directory, list->names + entry->name);
		if (entry->status_error)
			complain(!directory, entry->status_error, "access",
				 path);
		else
			complain(!directory, entry->target_error,
				 "read symbolic link", path);
		free(path);
	}
}

static void print_entry(const struct dirlist *list,
			const struct dirlist_entry *entry,
			const struct columns *columns)
{
	const char *name = list->names + entry->name;
	const char *target = entry->target ? list->names + entry->target : NULL;
	size_t length = strlen(name), target_length = target ? strlen(target) : 0;
	char *p = lines_room(columns_room(columns) + length +
			     sizeof(" -> \n") + target_length);

	if (options.long_format)
		p = put_columns(p, columns, &options.long_options,
				entry->status_error ? NULL : &entry->status,
				entry->type);
	p = mempcpy(p, name, length);
	if (target) {
		p = stpcpy(p, " -> ");
		p = mempcpy(p, target, target_length);
	}
	*p++ = '\n';
	lines_end(p);
}

static struct columns measure(const struct dirlist_entry *entries, size_t count)
{
	struct columns columns = { 0 };

	if (options.long_format)
		for (size_t i = 0; i < count; i++)
			if (!entries[i].status_error)
				columns_fit(&columns, &options.long_options,
					    &entries[i].status);
	return columns;
}

static uint64_t blocks_of(const struct dirlist_entry *entries, size_t count)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < count; i++)
		if (!entries[i].status_error)
			blocks += entries[i].status.st_blocks;
	return blocks;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void list_directories(char *const *paths, size_t count, bool operands,
			     bool header);

/* Lists the directories among a directory's entries. */
static void list_below(const struct dirlist *list, const char *directory,
		       const struct dirlist_entry *const *entries,
		       size_t count)
{
	char **paths = allocate(count, sizeof(*paths));
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = list->names + entries[i]->name;

		if (entries[i]->type == DT_DIR && !is_dot(name))
			paths[found++] = dirlist_join(directory, name);
	}
	list_directories(paths, found, false, true);
	for (size_t i = 0; i < found; i++)
		free(paths[i]);
	free(paths);
}

static void list_directory(const struct dirlist *list,
			   const struct dirlist_dir *dir, bool operand,
			   bool header)
{
	static bool any_before;
	const struct dirlist_entry *entries = &list->entries[dir->first];
	const struct dirlist_entry **sorted;
	struct columns columns;

	if (dir->open_error) {
		complain(operand, dir->open_error, "open directory", dir->path);
		return;
	}
	if (header) {
		if (any_before)
			putchar('\n');
		printf("%s:\n", dir->path);
	}
	any_before = true;
	report(list, dir->path, entries, dir->count);
	if (dir->read_error) {
		error(0, dir->read_error, "reading directory %s",
		      quote(dir->path));
		exit_status = operand ? SERIOUS_TROUBLE :
			      exit_status ? exit_status : MINOR_TROUBLE;
	}
	if (options.long_format)
		print_total(&options.long_options,
			    blocks_of(entries, dir->count));
	columns = measure(entries, dir->count);
	sorted = sort(list, dir->first, dir->count);
	for (size_t i = 0; i < dir->count; i++)
		print_entry(list, sorted[i], &columns);
	lines_flush();
	if (options.recursive)
		list_below(list, dir->path, sorted, dir->count);
	free(sorted);
}

static void list_directories(char *const *paths, size_t count, bool operands,
			     bool header)
{
	const struct dirlist_dir *dir;
	struct dirlist list;

	if (!count)
		return;
	dirlist_init(&list, paths, count,
		     options.all ? DIRLIST_ALL : DIRLIST_VISIBLE,
		     options.long_format ? DIRLIST_STATUS | DIRLIST_TARGETS :
		     options.order != BY_NAME ? DIRLIST_STATUS : 0);
	while ((dir = dirlist_next(&list)) != NULL)
		list_directory(&list, dir, operands, header);
	dirlist_free(&list);
}

/* Lists files first, then directories. */
static void list_operands(char *const *operands, size_t count)
{
	const struct dirlist_entry **sorted;
	size_t nfiles = 0, ndirs = 0;
	struct columns columns;
	struct dirlist list;
	char **dirs;

	dirlist_paths(&list, operands, count,
		      options.long_format ? DIRLIST_TARGETS :
		      options.directory ? 0 : DIRLIST_ENTER);
	report(&list, NULL, list.entries, count);
	columns = measure(list.entries, count);
	sorted = sort(&list, 0, count);
	dirs = allocate(count, sizeof(*dirs));
	for (size_t i = 0; i < count; i++) {
		if (sorted[i]->status_error)
			continue;
		if (sorted[i]->type == DT_DIR && !options.directory) {
			dirs[ndirs++] = list.names + sorted[i]->name;
			continue;
		}
		print_entry(&list, sorted[i], &columns);
		nfiles++;
	}
	lines_flush();
	if (nfiles && ndirs)
		putchar('\n');
	list_directories(dirs, ndirs, true, options.recursive || count > 1);
	free(dirs);
	free(sorted);
	dirlist_free(&list);
}

static void print_help(void)
{
	printf("Usage: %s [OPTION]... [FILE]...\n", program_invocation_name);
	fputs("List FILEs (the current directory by default), sorted by name in the order of\n"
	      "the C locale, one per line.\n"
	      "\n"
	      "  -1                       accepted, always on\n"
	      "  -a, --all                do not leave out names that begin with a dot\n"
	      "  -d, --directory          list directories themselves, not what is in them\n"
	      "  -h, --human-readable     with -l, print sizes like 1.5K 234M 2G\n"
	      "  -l                       mode, links, owner, group, size, time and name of each\n"
	      "  -n, --numeric-uid-gid    like -l, with the numbers of owner and group\n"
	      "  -R, --recursive          list sub-directories, too\n"
	      "  -r, --reverse            sort the other way round\n"
	      "  -S                       sort by size, the largest first\n"
	      "  -t                       sort by time, the newest first\n"
	      "      --help               print this and exit\n"
	      "      --version            print the version and exit\n"
	      "\n"
	      "The output is that of GNU ls with LC_ALL=C into a file, but for the marks of\n"
	      "access control lists (+) and security contexts (.), which are not shown.\n"
	      "\n"
	      "Exit status: 0 all was listed, 1 something in a directory could not be read,\n"
	      "2 an operand could not be read, or wrong usage.\n", stdout);
}

static void parse_options(int argc, char **argv)
{
	enum { HELP = 256, VERSION };
	static const struct option longs[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "directory", no_argument, NULL, 'd' },
		{ "human-readable", no_argument, NULL, 'h' },
		{ "numeric-uid-gid", no_argument, NULL, 'n' },
		{ "recursive", no_argument, NULL, 'R' },
		{ "reverse", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "1adhlnRrSt", longs, NULL)) != -1) {
		switch (option) {
		case '1':
			break;
		case 'a':
			options.all = true;
			break;
		case 'd':
			options.directory = true;
			break;
		case 'h':
			options.long_options.human = true;
			break;
		case 'n':
			options.long_options.numeric = true;
			options.long_format = true;
			break;
		case 'l':
			options.long_format = true;
			break;
		case 'R':
			options.recursive = true;
			break;
		case 'r':
			options.reverse = true;
			break;
		case 'S':
			options.order = BY_SIZE;
			break;
		case 't':
			options.order = BY_TIME;
			break;
		case HELP:
			print_help();
			output_finish(0, SERIOUS_TROUBLE);
		case VERSION:
			puts("ls (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, SERIOUS_TROUBLE);
		default:
			fprintf(stderr, "Try '%s --help' for more information.\n",
				program_invocation_name);
			exit(SERIOUS_TROUBLE);
		}
	}
}

int main(int argc, char **argv)
{
	static char here[] = ".";
	static char *const nothing[] = { here };

	parse_options(argc, argv);
	if (optind < argc)
		list_operands(argv + optind, argc - optind);
	else
		list_operands(nothing, 1);
	output_finish(exit_status, SERIOUS_TROUBLE);
}
