// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cp.c - copy files and trees, as GNU cp does in the C locale.
 *
 * The Cosy regions in copy.c copy the contents of regular files. Those in
 * ../common/dirlist.c read directories.
 */
#include "../common/allocated.h"
#include "../common/dirlist.h"
#include "../common/inode.h"
#include "../common/output.h"
#include "../common/progress.h"
#include "../common/quote.h"
#include "../common/usage.h"
#include "attributes.h"
#include "copy.h"

#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * struct directory - a directory that gets its mode and times at the end
 * @from:   the source
 * @path:   of the copy
 * @status: of the source
 * @made:   it did not exist before
 */
struct directory {
	char *from, *path;
	struct stat status;
	bool made;
};

static struct {
	bool recursive, verbose, progress, no_target_directory;
	struct copy_options copy;
} options;

static int exit_status;
static struct copy copy;
static struct directory *directories;
static size_t ndirectories;

/*
 * Directories that were created inside an existing one, for tsearch(). A tree that contains
 * one of them must not be copied into itself.
 */
static void *roots;

/*
 * The operand that is copied, and its destination, as in messages; and whether a message
 * has said that the copy would be inside the operand.
 */
static const char *operand_from, *operand_to;
static bool said_itself;

static void show_progress(void *context)
{
	(void)context;
	if (options.progress)
		progress_show(copy.finished, copy.bytes);
}

/* Files in the queue were found before, so their messages are printed first. */
static void complain(int number, const char *format, const char *path)
{
	copy_flush(&copy);
	progress_clear();
	error(0, number, format, quote(path));
	exit_status = 1;
}

/* Needed because quote() has room for only one name. */
static char *quote_to_keep(const char *path)
{
	return allocated(strdup(quote(path)), 1);
}

/* Prints a message in which @format names @first, then @second. */
static void complain_of_two(const char *format, const char *first,
			    const char *second)
{
	char *quoted = quote_to_keep(first);

	copy_flush(&copy);
	progress_clear();
	error(0, 0, format, quoted, quote(second));
	exit_status = 1;
	free(quoted);
}

static void say_copied(const char *from, const char *to)
{
	char *quoted;

	if (!options.verbose)
		return;
	progress_clear();
	quoted = quote_to_keep(from);
	printf("%s -> %s\n", quoted, quote(to));
	free(quoted);
}

/* The message for each result, and the file that it names. */
static const struct {
	const char *format;
	bool of_source;
} failures[] = {
	[COPY_ONTO_DIRECTORY] = {
		"cannot overwrite directory %s with non-directory", false },
	[COPY_DANGLING] = {
		"not writing through dangling symlink %s", false },
	[COPY_REPLACED] = {
		"skipping file %s, as it was replaced while being copied", true },
	[COPY_STAT_FAILED] = { "cannot stat %s", false },
	[COPY_OPEN_FAILED] = { "cannot open %s for reading", true },
	[COPY_CREATE_FAILED] = { "cannot create regular file %s", false },
	[COPY_READ_FAILED] = { "error reading %s", true },
	[COPY_WRITE_FAILED] = { "error writing %s", false },
	[COPY_REMOVE_FAILED] = { "cannot remove %s", false },
	[COPY_TIMES_FAILED] = { "preserving times for %s", false },
	[COPY_OWNER_FAILED] = {
		"failed to preserve ownership for %s", false },
	[COPY_MODE_FAILED] = { "preserving permissions for %s", false },
};

static void report(void *context, const struct copy_file *file)
{
	char *quoted;

	(void)context;
	switch (file->result) {
	case COPY_DONE:
		say_copied(file->from, file->to);
		return;
	case COPY_WAITING:
	case COPY_SKIPPED:
		return;
	case COPY_SAME:
		progress_clear();
		quoted = quote_to_keep(file->from);
		error(0, 0, "%s and %s are the same file", quoted,
		      quote(file->to));
		free(quoted);
		break;
	default:
		progress_clear();
		error(0, file->error, failures[file->result].format,
		      quote(failures[file->result].of_source ? file->from :
							       file->to));
	}
	exit_status = 1;
}

/*
 * Gives a copy that is not a regular file the attributes of @from, whose status is @status.
 */
static void preserve(const char *from, const char *to, const struct stat *status)
{
	enum copy_result result = attributes_copy(from, -1, to, -1, status);

	if (result != COPY_DONE)
		complain(errno, failures[result].format, to);
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Return true if one of the two files, whose own status is @a_status and @b_status, is a link to
 * the other. Replacing @b by a copy of @a would then remove the file, or the only way to it.
 */
static bool points_to(const char *a, const struct stat *a_status, const char *b,
		      const struct stat *b_status)
{
	struct stat of_a, of_b;

	return S_ISLNK(a_status->st_mode) != S_ISLNK(b_status->st_mode) &&
	       stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && same_inode(&of_a, &of_b);
}

/* Copies a link, a device, a pipe or a socket itself, without following it. */
static void copy_special(const char *from, const char *to,
			 const struct stat *status, const char *target)
{
	struct stat there;
	int made;

	if (lstat(to, &there) == 0) {
		if (options.copy.no_clobber)
			return;
		if (same_inode(&there, status) || points_to(from, status, to, &there)) {
			complain_of_two("%s and %s are the same file", from,
					to);
			return;
		}
		if (S_ISDIR(there.st_mode)) {
			complain(0, "cannot overwrite directory %s with non-directory",
				 to);
			return;
		}
		if (unlink(to) < 0) {
			complain(errno, "cannot remove %s", to);
			return;
		}
	}
	if (S_ISLNK(status->st_mode))
		made = symlink(target, to);
	else
		made = mknod(to, status->st_mode & ~07000, status->st_rdev);
	if (made < 0) {
		complain(errno, S_ISLNK(status->st_mode) ?
					"cannot create symbolic link %s" :
				S_ISFIFO(status->st_mode) ?
					"cannot create fifo %s" :
					"cannot create special file %s", to);
		return;
	}
	copy_flush(&copy);
	say_copied(from, to);
	if (options.copy.preserve)
		preserve(from, to, status);
}

/* Return true for a directory that this command has created for the tree that it copies. */
static bool is_root(const struct stat *status)
{
	struct inode inode = inode_of(status);

	return tfind(&inode, &roots, inode_compare) != NULL;
}

static void add_root(const char *path)
{
	struct inode *inode = allocated(malloc(sizeof(*inode)), 1);
	struct stat status;

	if (stat(path, &status) < 0) {
		free(inode);
		return;
	}
	*inode = inode_of(&status);
	allocated(tsearch(inode, &roots, inode_compare), 1);
}

/*
 * Creates the copy of a directory, or uses the existing one. @in_ours: it is in a directory
 * that this command has created.
 */
static bool make_directory(const char *from, const char *to,
			   const struct stat *status, bool in_ours)
{
	struct directory *directory;
	bool made = true;
	struct stat there;

	if (mkdir(to, (status->st_mode & 01777) | 0700) < 0) {
		if (errno != EEXIST || stat(to, &there) < 0) {
			complain(errno, "cannot create directory %s", to);
			return false;
		}
		if (!S_ISDIR(there.st_mode)) {
			complain_of_two("cannot overwrite non-directory %s with directory %s",
					to, from);
			return false;
		}
		made = false;
	} else {
		if (!in_ours)
			add_root(to);
		copy_flush(&copy);
		say_copied(from, to);
	}
	directories = allocated(reallocarray(directories, ndirectories + 1,
					     sizeof(*directories)), 1);
	directory = &directories[ndirectories++];
	*directory = (struct directory){ allocated(strdup(from), 1), allocated(strdup(to), 1),
					 *status, made };
	return true;
}

/* Called when no more files are created in the directories. */
static void finish_directories(void)
{
	mode_t mask = umask(0);

	umask(mask);
	while (ndirectories > 0) {
		struct directory *directory = &directories[--ndirectories];
		mode_t mode = directory->status.st_mode & 01777;

		if (options.copy.preserve)
			preserve(directory->from, directory->path,
				 &directory->status);
		else if (directory->made && (mode & 0700) != 0700 &&
			 chmod(directory->path, mode & ~mask) < 0)
			complain(errno, "setting permissions for %s",
				 directory->path);
		free(directory->from);
		free(directory->path);
	}
	free(directories);
}

/*
 * @dir has been read. Copies its entries to its copy, the directory number @copied;
 * sub-directories last.
 */
static void copy_directory(const struct dirlist *list,
			   const struct dirlist_dir *dir, size_t copied)
{
	const struct dirlist_entry *entries = &list->entries[dir->first];
	const char *to = directories[copied].path;
	const bool ours = directories[copied].made;
	const size_t first_below = ndirectories;
	size_t nbelow = 0;
	char **below = allocated(calloc(dir->count + 1, sizeof(*below)), 1);
	struct dirlist below_list;

	if (dir->open_error)
		complain(dir->open_error, "cannot access %s", dir->path);
	for (size_t i = 0; i < dir->count; i++) {
		const struct dirlist_entry *entry = &entries[i];
		const char *name = list->names + entry->name;
		char *from = dirlist_join(dir->path, name);
		char *path = dirlist_join(to, name);

		if (entry->status_error) {
			complain(entry->status_error, "cannot stat %s", from);
		} else if (entry->target_error) {
			complain(entry->target_error,
				 "cannot read symbolic link %s", from);
		} else if (entry->type == DT_REG) {
			copy_add(&copy, from, path, false);
		} else if (entry->type != DT_DIR) {
			copy_special(from, path, &entry->status,
				     list->names + entry->target);
		} else if (is_root(&entry->status)) {
			if (!said_itself)
				complain_of_two("cannot copy a directory, %s, into itself, %s",
						operand_from, operand_to);
			said_itself = true;
		} else if (make_directory(from, path, &entry->status, ours)) {
			below[nbelow++] = from;
			from = NULL;
		}
		free(from);
		free(path);
	}
	if (dir->read_error)
		complain(dir->read_error, "cannot access %s", dir->path);
	dirlist_init(&below_list, below, nbelow, DIRLIST_CHILDREN,
		     DIRLIST_STATUS | DIRLIST_TARGETS | DIRLIST_NOFOLLOW);
	for (size_t i = 0; i < nbelow; i++) {
		copy_directory(&below_list, dirlist_next(&below_list),
			       first_below + i);
		free(below[i]);
	}
	dirlist_free(&below_list);
	free(below);
}

static void copy_tree(const char *from, const char *to,
		      const struct stat *status)
{
	const size_t copied = ndirectories;
	char *path = (char *)from;
	struct dirlist list;

	if (!make_directory(from, to, status, false))
		return;
	dirlist_init(&list, &path, 1, DIRLIST_CHILDREN,
		     DIRLIST_STATUS | DIRLIST_TARGETS);
	copy_directory(&list, dirlist_next(&list), copied);
	dirlist_free(&list);
	tdestroy(roots, free);
	roots = NULL;
}

static void copy_link(const char *from, const char *to,
		      const struct stat *status)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0) {
		complain(errno, "cannot read symbolic link %s", from);
		return;
	}
	target[n] = '\0';
	copy_special(from, to, status, target);
}

static void copy_operand(const char *from, const char *to)
{
	struct stat status;

	operand_from = from;
	operand_to = to;
	said_itself = false;
	if ((options.recursive ? lstat(from, &status) :
				 stat(from, &status)) < 0)
		complain(errno, "cannot stat %s", from);
	else if (S_ISDIR(status.st_mode) && !options.recursive)
		complain(0, "-r not specified; omitting directory %s", from);
	else if (S_ISDIR(status.st_mode))
		copy_tree(from, to, &status);
	else if (S_ISLNK(status.st_mode))
		copy_link(from, to, &status);
	else if (!S_ISREG(status.st_mode) && options.recursive)
		copy_special(from, to, &status, NULL);
	else
		copy_add(&copy, from, to, true);
}

/* Return the last component of a path, without trailing slashes. The caller frees it. */
static char *last_component(const char *path)
{
	size_t end = strlen(path), start;
	char *name;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	name = strndup(path + start, end - start);
	if (!name)
		error(1, errno, "cannot copy");
	return name;
}

/*
 * A name in the directory that operands are copied into, and the first operand that was
 * copied there.
 */
struct taken {
	char *name;
	const char *from;
};

static int compare_taken(const void *a, const void *b)
{
	const struct taken *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static void free_taken(void *taken)
{
	free(((struct taken *)taken)->name);
	free(taken);
}

/*
 * Return true if @from must not be copied to @to, because this command copies @before there.
 * Directories are merged, except one that is named twice.
 */
static bool is_in_vain(const char *from, const char *before, const char *to)
{
	int (*look)(const char *path, struct stat *status) =
		options.recursive ? lstat : stat;
	struct stat status, first, there;

	if (look(from, &status) < 0 || look(before, &first) < 0)
		return false;
	copy_flush(&copy);
	if (same_inode(&status, &first)) {
		progress_clear();
		error(0, 0, "warning: source %s %s specified more than once",
		      S_ISDIR(status.st_mode) ? "directory" : "file",
		      quote(from));
		return true;
	}
	if (lstat(to, &there) < 0 || same_inode(&first, &there) ||
	    same_inode(&status, &there) ||
	    S_ISDIR(status.st_mode) || S_ISDIR(there.st_mode) ||
	    options.copy.no_clobber)
		return false;
	complain_of_two("will not overwrite just-created %s with %s", to, from);
	return true;
}

static void copy_into(char *const *from, size_t count, const char *directory)
{
	void *all_taken = NULL;

	for (size_t i = 0; i < count; i++) {
		struct taken *taken = allocated(malloc(sizeof(*taken)), 1), **first;
		char *name = last_component(from[i]);
		char *to;

		*taken = (struct taken){ name, from[i] };
		first = allocated(tsearch(taken, &all_taken, compare_taken), 1);
		/* A copy of .. goes to DIRECTORY, not to DIRECTORY/.. */
		to = dirlist_join(directory,
				  strcmp(name, "..") == 0 ? "." : name);
		if (*first == taken ||
		    !is_in_vain(from[i], (*first)->from, to))
			copy_operand(from[i], to);
		if (*first != taken)
			free_taken(taken);
		free(to);
	}
	tdestroy(all_taken, free_taken);
}

static void print_help(void)
{
	printf("Usage: %s [OPTION]... SOURCE DESTINATION\n"
	       "       %s [OPTION]... SOURCE... DIRECTORY\n",
	       program_invocation_name, program_invocation_name);
	fputs("Copy a file, or files into a directory.\n"
	      "\n"
	      "  -f, --force              remove a destination that cannot be opened\n"
	      "  -n, --no-clobber         do not overwrite\n"
	      "  -p, --preserve           keep mode, access control list, owner and times\n"
	      "      --progress           show on standard error how far it is; the default\n"
	      "                           where that is a terminal\n"
	      "  -R, -r, --recursive      copy directories with all that is in them; links,\n"
	      "                           pipes and devices by themselves\n"
	      "      --sparse=WHEN        copy the holes of files as holes: auto (the default)\n"
	      "                           or never; always: make holes of other zeros, too\n"
	      "  -T, --no-target-directory  take DESTINATION for a file\n"
	      "  -v, --verbose            print what is copied\n"
	      "      --help               print this and exit\n"
	      "      --version            print the version and exit\n"
	      "\n"
	      "Messages are those of GNU cp with LC_ALL=C. Hard links become separate files;\n"
	      "other extended attributes are not copied.\n"
	      "\n"
	      "Exit status: 0 all was copied, 1 something was not, or wrong usage.\n",
	      stdout);
}

static enum copy_holes parse_sparse(const char *when)
{
	static const char *const names[] = {
		[COPY_HOLES_AUTO] = "auto",
		[COPY_HOLES_NEVER] = "never",
		[COPY_HOLES_ALWAYS] = "always",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(when, names[i]) == 0)
			return i;
	error(0, 0, "invalid argument %s for '--sparse'\n"
	      "Valid arguments are:\n"
	      "  - 'never'\n"
	      "  - 'auto'\n"
	      "  - 'always'", quote(when));
	fail_usage();
}

static void parse_options(int argc, char **argv)
{
	enum { HELP = 256, PROGRESS, SPARSE, VERSION };
	static const struct option longs[] = {
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, HELP },
		{ "no-clobber", no_argument, NULL, 'n' },
		{ "no-target-directory", no_argument, NULL, 'T' },
		{ "preserve", no_argument, NULL, 'p' },
		{ "progress", no_argument, NULL, PROGRESS },
		{ "recursive", no_argument, NULL, 'r' },
		{ "sparse", required_argument, NULL, SPARSE },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	options.progress = isatty(STDERR_FILENO);
	while ((option = getopt_long(argc, argv, "fnpRrTv", longs, NULL)) != -1) {
		switch (option) {
		case 'f':
			options.copy.force = true;
			break;
		case 'n':
			options.copy.no_clobber = true;
			break;
		case 'p':
			options.copy.preserve = true;
			break;
		case 'R':
		case 'r':
			options.recursive = true;
			break;
		case 'T':
			options.no_target_directory = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		case PROGRESS:
			options.progress = true;
			break;
		case SPARSE:
			options.copy.holes = parse_sparse(optarg);
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("cp (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
}

int main(int argc, char **argv)
{
	struct stat status;
	const char *last;
	int count;

	parse_options(argc, argv);
	count = argc - optind;
	if (count == 0) {
		error(0, 0, "missing file operand");
		fail_usage();
	}
	last = argv[argc - 1];
	if (count == 1) {
		error(0, 0, "missing destination file operand after %s",
		      quote(last));
		fail_usage();
	}
	if (options.no_target_directory && count > 2) {
		error(0, 0, "extra operand %s", quote(argv[optind + 2]));
		fail_usage();
	}
	copy_init(&copy, &options.copy, report, show_progress, NULL);
	if (!options.no_target_directory && stat(last, &status) == 0 &&
	    S_ISDIR(status.st_mode)) {
		copy_into(argv + optind, count - 1, last);
	} else if (count > 2) {
		error(1, stat(last, &status) < 0 ? errno : ENOTDIR,
		      "target %s", quote(last));
	} else {
		copy_operand(argv[optind], last);
	}
	copy_flush(&copy);
	finish_directories();
	copy_free(&copy);
	progress_clear();
	output_finish(exit_status, 1);
}
