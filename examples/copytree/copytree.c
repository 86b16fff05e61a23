// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * copytree.c - copy a tree, with many files at once.
 *
 * This file walks the tree, and copies files that are not regular. file.c copies regular
 * files. Hard links are made after that, when their files exist. Directories get their
 * modes and times at the end, because copying into them needs and changes these.
 */
#include "../common/allocated.h"
#include "../common/dirlist.h"
#include "../common/inode.h"
#include "../common/output.h"
#include "../common/progress.h"
#include "../common/quote.h"
#include "../common/usage.h"
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 1000, MAX_JOBS = 100000 };

/* A directory of the copy, and the status of what it is a copy of. */
struct directory {
	char *path;
	struct stat status;
};

/* The first copy of a file with several links. */
struct first_link {
	struct inode inode;
	char *path;
};

/* The link @path to the copy @first. */
struct later_link {
	const char *first;
	char *path;
};

static struct files files;
static struct directory *directories;
static size_t ndirectories;
static struct later_link *links;
static size_t nlinks;
static void *first_links;	/* for tsearch() */
static struct inode made;	/* the directory of the copy, which can be inside the source */

static void show_progress(const struct files *progress)
{
	progress_show(progress->count, progress->bytes);
}

static void free_first(void *first)
{
	free(((struct first_link *)first)->path);
	free(first);
}

/* Return: true if @path is a further link of a file, which is made later. */
static bool is_further_link(const struct stat *status, const char *path)
{
	struct first_link *first, **found;

	if (status->st_nlink == 1)
		return false;
	first = allocated(malloc(sizeof(*first)), 1);
	*first = (struct first_link){ inode_of(status), allocated(strdup(path), 1) };
	found = allocated(tsearch(first, &first_links, inode_compare), 1);
	if (*found == first)
		return false;
	links = allocated(reallocarray(links, nlinks + 1, sizeof(*links)), 1);
	links[nlinks++] = (struct later_link){ (*found)->path, first->path };
	free(first);
	return true;
}

static void make_links(void)
{
	for (size_t i = 0; i < nlinks; i++) {
		if (!files.signal && link(links[i].first, links[i].path) < 0)
			files_complain(&files, errno, "cannot create hard link %s",
				       links[i].path);
		free(links[i].path);
	}
	free(links);
	tdestroy(first_links, free_first);
}

/* Gives @path, which is not a regular file, the attributes in @status. */
static void preserve(const char *path, const struct stat *status)
{
	const struct timespec times[2] = { status->st_atim, status->st_mtim };
	mode_t mode = status->st_mode & 07777;

	if (lchown(path, status->st_uid, status->st_gid) < 0) {
		if (errno != EPERM)
			files_complain(&files, errno, "cannot preserve the owner of %s", path);
		mode &= ~(S_ISUID | S_ISGID);
	}
	if (!S_ISLNK(status->st_mode) && chmod(path, mode) < 0)
		files_complain(&files, errno, "cannot preserve the permissions of %s", path);
	if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0)
		files_complain(&files, errno, "cannot preserve the times of %s", path);
}

/* Makes the copy @path of a directory. Return: false if nothing in it can be copied. */
static bool make_directory(const char *path, const struct stat *status)
{
	if (mkdir(path, 0700) < 0) {
		files_complain(&files, errno, "cannot create directory %s", path);
		return false;
	}
	directories = allocated(reallocarray(directories, ndirectories + 1,
					     sizeof(*directories)), 1);
	directories[ndirectories++] =
		(struct directory){ allocated(strdup(path), 1), *status };
	return true;
}

/* From the last one to the first, because a directory may become read-only. */
static void finish_directories(void)
{
	while (ndirectories-- > 0) {
		preserve(directories[ndirectories].path, &directories[ndirectories].status);
		free(directories[ndirectories].path);
	}
	free(directories);
}

/* Makes the copy @path of a file that is not regular. @target: of a symbolic link */
static void copy_special(const char *path, const struct stat *status, const char *target)
{
	const bool link = S_ISLNK(status->st_mode);

	if ((link ? symlink(target, path) :
		    mknod(path, status->st_mode & ~07777, status->st_rdev)) < 0)
		files_complain(&files, errno, link ? "cannot create symbolic link %s" :
						     "cannot create special file %s", path);
	else
		preserve(path, status);
}

/*
 * Copies @from to @path. Further links of links and special files are made at the end, too, but
 * their files exist already. Return: true for a directory whose entries have to be copied.
 */
static bool copy_entry(const struct dirlist *list, const struct dirlist_entry *entry,
		       const char *from, const char *path)
{
	const struct stat *status = &entry->status;
	const struct inode inode = inode_of(status);

	if (entry->status_error) {
		files_complain(&files, entry->status_error, "cannot access %s", from);
	} else if (entry->target_error) {
		files_complain(&files, entry->target_error, "cannot read symbolic link %s", from);
	} else if (entry->type == DT_DIR) {
		if (inode_compare(&inode, &made))
			return make_directory(path, status);
		files_complain(&files, ELOOP, "cannot copy %s into itself", from);
	} else if (!is_further_link(status, path)) {
		if (entry->type == DT_REG)
			files_copy(&files, from, path, status);
		else
			copy_special(path, status, list->names + entry->target);
	}
	return false;
}

/*
 * @dir has been read. Copies its entries to its copy, the directory number @copied;
 * sub-directories last.
 */
static void copy_directory(const struct dirlist *list, const struct dirlist_dir *dir,
			   size_t copied)
{
	const char *to = directories[copied].path;
	const size_t first_below = ndirectories;
	char **below = allocated(calloc(dir->count + 1, sizeof(*below)), 1);
	struct dirlist below_list;
	size_t nbelow = 0;

	if (dir->open_error || dir->read_error)
		files_complain(&files, dir->open_error ? dir->open_error : dir->read_error,
			       "cannot read directory %s", dir->path);
	for (size_t i = 0; i < dir->count && !files.signal; i++) {
		const struct dirlist_entry *entry = &list->entries[dir->first + i];
		char *from = dirlist_join(dir->path, list->names + entry->name);
		char *path = dirlist_join(to, list->names + entry->name);

		if (copy_entry(list, entry, from, path))
			below[nbelow++] = from;
		else
			free(from);
		free(path);
	}
	dirlist_init(&below_list, below, nbelow, DIRLIST_CHILDREN,
		     DIRLIST_STATUS | DIRLIST_TARGETS | DIRLIST_NOFOLLOW);
	for (size_t i = 0; i < nbelow; i++) {
		if (!files.signal)
			copy_directory(&below_list, dirlist_next(&below_list), first_below + i);
		free(below[i]);
	}
	dirlist_free(&below_list);
	free(below);
}

static void copy_tree(char *source, const char *destination, const struct stat *status)
{
	struct dirlist list;
	struct stat copy;

	if (!make_directory(destination, status))
		return;
	if (lstat(destination, &copy) < 0)
		error(1, errno, "cannot access %s", quote(destination));
	made = inode_of(&copy);
	dirlist_init(&list, &source, 1, DIRLIST_CHILDREN,
		     DIRLIST_STATUS | DIRLIST_TARGETS | DIRLIST_NOFOLLOW);
	copy_directory(&list, dirlist_next(&list), 0);
	dirlist_free(&list);
	files_wait(&files);
	make_links();
	finish_directories();
}

static void print_help(void)
{
	printf("Usage: %s [OPTION]... SOURCE DESTINATION\n", program_invocation_name);
	fputs("Copy the directory SOURCE with all that is in it to DESTINATION, which must not\n"
	      "exist. Modes, owners, times, symbolic and hard links are those of SOURCE.\n"
	      "Access control lists, other extended attributes and holes are not copied.\n"
	      "\n"
	      "      --jobs=N       copy so many files at once (1000)\n"
	      "      --progress     show on standard error how far it is; the default where\n"
	      "                     that is a terminal\n"
	      "      --help         print this and exit\n"
	      "      --version      print the version and exit\n"
	      "\n"
	      "After SIGINT and SIGTERM, files that are not complete are removed.\n"
	      "\n"
	      "Exit status: 0 all was copied, 1 something was not, or wrong usage.\n",
	      stdout);
}

/* The program's parent must see that a signal ended it. */
static _Noreturn void end_by_signal(int signal, const char *destination)
{
	error(0, 0, "interrupted after %llu files: remove %s, and copy again",
	      (unsigned long long)files.count, quote(destination));
	sigprocmask(SIG_UNBLOCK, &files.signals, NULL);
	raise(signal);
	_exit(128 + signal);
}

int main(int argc, char **argv)
{
	enum { HELP = 256, JOBS_OPTION, PROGRESS, VERSION };
	static const struct option longs[] = {
		{ "help", no_argument, NULL, HELP },
		{ "jobs", required_argument, NULL, JOBS_OPTION },
		{ "progress", no_argument, NULL, PROGRESS },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	unsigned int jobs = JOBS;
	struct stat status;
	char *source;
	int option;

	if (isatty(STDERR_FILENO))
		files.progress = show_progress;
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case JOBS_OPTION:
			jobs = usage_number(optarg, "jobs", 1, MAX_JOBS);
			break;
		case PROGRESS:
			files.progress = show_progress;
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("copytree (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
	if (argc - optind != 2) {
		error(0, 0, "SOURCE and DESTINATION are needed");
		fail_usage();
	}
	source = argv[optind];
	/* A slash at its end would follow a link. */
	for (size_t length = strlen(source); length > 1 && source[length - 1] == '/'; length--)
		source[length - 1] = '\0';
	if (lstat(source, &status) < 0)
		error(1, errno, "cannot access %s", quote(source));
	if (!S_ISDIR(status.st_mode))
		error(1, 0, "%s is no directory: use cp", quote(source));
	sigemptyset(&files.signals);
	sigaddset(&files.signals, SIGINT);
	sigaddset(&files.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &files.signals, NULL);
	umask(077);
	files_init(&files, jobs);
	copy_tree(source, argv[optind + 1], &status);
	progress_clear();
	files_finish(&files);
	if (files.signal)
		end_by_signal(files.signal, argv[optind + 1]);
	output_finish(files.failed, 1);
}
