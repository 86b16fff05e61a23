// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * copytree.c - copy a tree, with many files at once.
 *
 * This file walks the tree, and copies files that are not regular. file.c copies regular
 * files. Hard links are made after that, when their files exist. Directories get their
 * modes and times at the end, because copying into them needs and changes these.
 */
#include "../common/output.h"
#include "../common/progress.h"
#include "../common/quote.h"
#include "../common/usage.h"
#include "file.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 1000, MAX_JOBS = 100000 };

/* A path of the copy, and its status: a directory, or a file with several links. */
struct copy {
	char *path;
	struct stat status;
};

/* The link @path to the copy @first. */
struct later_link {
	const char *first;
	char *path;
};

static struct files files;
static struct copy *directories;
static size_t ndirectories;
static struct later_link *links;
static size_t nlinks;
static void *inodes;		/* struct copy of files with several links, for tsearch() */
static size_t source_length;
static const char *destination;
static struct stat made;	/* the directory destination, which can be inside the source */

static void *allocated(void *p)
{
	if (!p)
		error(1, errno, "cannot go on");
	return p;
}

static void show_progress(const struct files *progress)
{
	progress_show(progress->count, progress->bytes);
}

static char *path_of_copy(const FTSENT *entry)
{
	char *path;

	if (asprintf(&path, "%s%s", destination, entry->fts_path + source_length) < 0)
		error(1, ENOMEM, "cannot go on");
	return path;
}

static int compare_inodes(const void *a, const void *b)
{
	const struct stat *left = &((const struct copy *)a)->status;
	const struct stat *right = &((const struct copy *)b)->status;

	if (left->st_dev != right->st_dev)
		return left->st_dev < right->st_dev ? -1 : 1;
	if (left->st_ino != right->st_ino)
		return left->st_ino < right->st_ino ? -1 : 1;
	return 0;
}

static void free_copy(void *copy)
{
	free(((struct copy *)copy)->path);
	free(copy);
}

/* Return: true if @entry is a further link of a file, which is made later. */
static bool is_further_link(const FTSENT *entry, const char *path)
{
	struct copy *copy, **found;

	if (entry->fts_statp->st_nlink == 1)
		return false;
	copy = allocated(malloc(sizeof(*copy)));
	copy->path = allocated(strdup(path));
	copy->status = *entry->fts_statp;
	found = allocated(tsearch(copy, &inodes, compare_inodes));
	if (*found == copy)
		return false;
	links = allocated(reallocarray(links, nlinks + 1, sizeof(*links)));
	links[nlinks++] = (struct later_link){ (*found)->path, copy->path };
	free(copy);
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
	tdestroy(inodes, free_copy);
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

/* Return: false if nothing in the directory can be copied. */
static bool make_directory(const FTSENT *entry, char *path)
{
	if (mkdir(path, 0700) < 0) {
		files_complain(&files, errno, "cannot create directory %s", path);
		free(path);
		return false;
	}
	if (ndirectories == 0 && lstat(path, &made) < 0)
		error(1, errno, "cannot access %s", quote(path));
	directories = allocated(reallocarray(directories, ndirectories + 1,
					     sizeof(*directories)));
	directories[ndirectories++] = (struct copy){ path, *entry->fts_statp };
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

static void copy_link(const FTSENT *entry, const char *path)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlink(entry->fts_accpath, target, sizeof(target) - 1);

	if (n < 0) {
		files_complain(&files, errno, "cannot read symbolic link %s", entry->fts_path);
		return;
	}
	target[n] = '\0';
	if (symlink(target, path) < 0)
		files_complain(&files, errno, "cannot create symbolic link %s", path);
	else
		preserve(path, entry->fts_statp);
}

static void copy_special(const FTSENT *entry, const char *path)
{
	const struct stat *status = entry->fts_statp;

	if (mknod(path, status->st_mode & ~07777, status->st_rdev) < 0)
		files_complain(&files, errno, "cannot create special file %s", path);
	else
		preserve(path, status);
}

/*
 * Further links of links and special files are made at the end, too, but their files exist
 * already.
 */
static void copy_entry(FTS *tree, FTSENT *entry)
{
	char *path = path_of_copy(entry);

	switch (entry->fts_info) {
	case FTS_D:
		if (ndirectories > 0 && entry->fts_statp->st_dev == made.st_dev &&
		    entry->fts_statp->st_ino == made.st_ino) {
			files_complain(&files, ELOOP, "cannot copy %s into itself",
				       entry->fts_path);
			fts_set(tree, entry, FTS_SKIP);
			break;
		}
		if (!make_directory(entry, path))
			fts_set(tree, entry, FTS_SKIP);
		return;
	case FTS_DP:
		break;
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE:
	case FTS_DEFAULT:
		if (is_further_link(entry, path))
			break;
		if (entry->fts_info == FTS_F)
			files_copy(&files, entry->fts_path, path, entry->fts_statp);
		else if (S_ISLNK(entry->fts_statp->st_mode))
			copy_link(entry, path);
		else
			copy_special(entry, path);
		break;
	case FTS_DNR:
		files_complain(&files, entry->fts_errno, "cannot read directory %s",
			       entry->fts_path);
		break;
	default:
		files_complain(&files, entry->fts_errno, "cannot access %s",
			       entry->fts_path);
	}
	free(path);
}

static void copy_tree(char *source)
{
	char *const paths[] = { source, NULL };
	FTS *tree = allocated(fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL));
	FTSENT *entry;

	while (!files.signal && (entry = fts_read(tree)) != NULL)
		copy_entry(tree, entry);
	fts_close(tree);
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
static _Noreturn void end_by_signal(int signal)
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
	destination = argv[optind + 1];
	/*
	 * Paths in the tree are the source followed by a suffix that begins with a slash.
	 */
	for (source_length = strlen(source); source_length > 1; source_length--) {
		if (source[source_length - 1] != '/')
			break;
		source[source_length - 1] = '\0';
	}
	if (strcmp(source, "/") == 0)
		source_length = 0;
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
	copy_tree(source);
	progress_clear();
	files_finish(&files);
	if (files.signal)
		end_by_signal(files.signal);
	output_finish(files.failed, 1);
}
