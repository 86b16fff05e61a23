// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * files OPERATION OTHER [PASSES] - make an operation on many files, by a batch function
 *
 * The files are those of tree/ in the working directory (../common/processes.sh). With
 * COSY_EXECUTOR=native the operation is made by OTHER instead: by "calls", one for each
 * file, or by another one of the table below. Makes the operation PASSES times and prints a
 * sum, which is the same for all alternatives.
 */
#define _GNU_SOURCE
#include <cosy/batch.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/uring.h"

enum { FOLDERS = 32, FILES = 3200, NAME = 64, PIECE = 65536, SMALL = 4096 };

static const char *paths[FILES], *copies[FILES];
static char small[URING_BATCH][SMALL];
static struct statx statxs[URING_BATCH];
static unsigned long sum;

/* --- a tree, with the status of each file --- */

static void add(mode_t mode, off_t size)
{
	if (!S_ISDIR(mode))
		sum += size;
}

static void join(char to[NAME], const char *path, const char *name)
{
	if (snprintf(to, NAME, "%s/%s", path, name) >= NAME)
		errx(1, "%s/%s is too long", path, name);
}

static void list_by_calls(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[NAME];
	struct stat st;

	if (!dir)
		err(1, "%s", path);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			err(1, "%s", entry->d_name);
		add(st.st_mode, st.st_size);
		if (S_ISDIR(st.st_mode)) {
			join(below, path, entry->d_name);
			list_by_calls(below);
		}
	}
	closedir(dir);
}

static void list_by_fts(const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL, NULL);
	FTSENT *entry;

	if (!fts)
		err(1, "%s", path);
	while ((entry = fts_read(fts)))
		if (entry->fts_info == FTS_F)
			add(entry->fts_statp->st_mode, entry->fts_statp->st_size);
	fts_close(fts);
}

/* Wait for the status of @n files. */
static void finish_statx(int *n)
{
	uring_submit();
	while (*n) {
		(*n)--;
		add(statxs[*n].stx_mode, statxs[*n].stx_size);
	}
}

static void submit_statx(int dir, const char *name, int flags, int *n)
{
	uring_statx(dir, name, flags, &statxs[(*n)++]);
	if (*n == URING_BATCH)
		finish_statx(n);
}

/* io_uring has no getdents. The tree has two levels: folders, and files in them. */
static void list_by_ring(const char *path)
{
	static char names[URING_BATCH][NAME];
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[NAME];
	int n = 0;

	if (!dir)
		err(1, "%s", path);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!memccpy(names[n], entry->d_name, 0, NAME))
			errx(1, "%s is too long", entry->d_name);
		submit_statx(dirfd(dir), names[n], AT_SYMLINK_NOFOLLOW, &n);
		if (entry->d_type == DT_DIR) {
			finish_statx(&n);
			join(below, path, entry->d_name);
			list_by_ring(below);
		}
	}
	finish_statx(&n);
	closedir(dir);
}

static void list_by_batch(const char *path)
{
	const struct cosy_dir_entry *entries;
	struct cosy_dir *dir;
	char below[NAME];
	ssize_t n;

	if (cosy_dir_open(&dir, AT_FDCWD, path, COSY_DIR_STATUS))
		errx(1, "%s", path);
	while ((n = cosy_dir_read(dir, &entries)) > 0) {
		for (; n--; entries++) {
			add(entries->status.st_mode, entries->status.st_size);
			if (S_ISDIR(entries->status.st_mode)) {
				join(below, path, entries->name);
				list_by_batch(below);
			}
		}
	}
	cosy_dir_close(dir);
}

/* --- the status of files whose names are known --- */

static void stat_by_calls(const char *unused)
{
	struct stat st;

	(void)unused;
	for (int i = 0; i < FILES; i++) {
		if (stat(paths[i], &st))
			err(1, "%s", paths[i]);
		add(st.st_mode, st.st_size);
	}
}

static void stat_by_ring(const char *unused)
{
	int n = 0;

	(void)unused;
	for (int i = 0; i < FILES; i++)
		submit_statx(AT_FDCWD, paths[i], 0, &n);
	finish_statx(&n);
}

static void stat_by_batch(const char *unused)
{
	static struct stat status[FILES];
	static int results[FILES];

	(void)unused;
	if (cosy_stat_many(AT_FDCWD, paths, FILES, 0, status, results) != FILES)
		errx(1, "cosy_stat_many");
	for (int i = 0; i < FILES; i++)
		add(status[i].st_mode, status[i].st_size);
}

/* --- their contents --- */

static void read_by_calls(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++) {
		int fd = open(paths[i], O_RDONLY);
		ssize_t n;

		if (fd < 0)
			err(1, "%s", paths[i]);
		while ((n = read(fd, small[0], SMALL)) > 0)
			sum += n;
		close(fd);
	}
}

/* Chains by direct descriptors. One read is enough, because the sizes are known. */
static void read_by_ring(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES;) {
		for (int slot = 0; slot < URING_BATCH / 3 && i < FILES; slot++, i++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_OPENAT;
			sqe->flags = IOSQE_IO_LINK;
			sqe->fd = AT_FDCWD;
			sqe->addr = (uintptr_t)paths[i];
			sqe->open_flags = O_RDONLY;
			sqe->file_index = slot + 1;
			uring_rw(IORING_OP_READ, slot, small[slot], SMALL, 0)->flags =
				IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
			sqe = uring_sqe();
			sqe->opcode = IORING_OP_CLOSE;
			sqe->file_index = slot + 1;
		}
		sum += uring_submit();
	}
}

static void read_by_batch(const char *unused)
{
	static struct cosy_read_result results[FILES];
	static char buffer[1 << 20];

	(void)unused;
	for (ssize_t done = 0, n; done < FILES; done += n) {
		n = cosy_read_many(AT_FDCWD, paths + done, FILES - done, 0, buffer,
				   sizeof(buffer), results);
		for (ssize_t i = 0; i < n; i++) {
			if (results[i].length < 0)
				errx(1, "%s", paths[done + i]);
			sum += results[i].length;
		}
	}
}

/* --- removing them --- */

static void unlink_by_calls(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++)
		if (unlink(copies[i]))
			err(1, "%s", copies[i]);
}

static void unlink_by_ring(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++) {
		struct io_uring_sqe *sqe = uring_sqe();

		sqe->opcode = IORING_OP_UNLINKAT;
		sqe->fd = AT_FDCWD;
		sqe->addr = (uintptr_t)copies[i];
		if (i % URING_BATCH == URING_BATCH - 1)
			uring_submit();
	}
}

static void unlink_by_batch(const char *unused)
{
	static int results[FILES];

	(void)unused;
	if (cosy_unlink_many(AT_FDCWD, copies, FILES, 0, results) != FILES)
		errx(1, "cosy_unlink_many");
}

/* --- copying them --- */

static int open_both(int i, int *to)
{
	struct stat st;
	int from = open(paths[i], O_RDONLY);

	if (from < 0 || fstat(from, &st))
		err(1, "%s", paths[i]);
	*to = open(copies[i], O_WRONLY | O_CREAT | O_TRUNC, st.st_mode);
	if (*to < 0)
		err(1, "%s", copies[i]);
	return from;
}

static void copy_by_calls(const char *unused)
{
	static char buffer[PIECE];

	(void)unused;
	for (int i = 0; i < FILES; i++) {
		int to, from = open_both(i, &to);
		ssize_t n;

		while ((n = read(from, buffer, sizeof(buffer))) > 0)
			if (write(to, buffer, n) != n)
				err(1, "%s", copies[i]);
		close(from);
		close(to);
	}
}

static void copy_by_range(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++) {
		int to, from = open_both(i, &to);
		ssize_t n;

		while ((n = copy_file_range(from, NULL, to, NULL, PIECE, 0)) > 0)
			;
		if (n < 0)
			err(1, "%s", copies[i]);
		close(from);
		close(to);
	}
}

static void copy_by_batch(const char *unused)
{
	(void)unused;
	for (int i = 0; i < FILES; i++)
		if (cosy_copy_file(AT_FDCWD, paths[i], AT_FDCWD, copies[i], 0, NULL))
			errx(1, "%s", copies[i]);
}

static const struct {
	const char *operation, *way;
	void (*run)(const char *tree);
} ways[] = {
	{ "list", "calls", list_by_calls },	{ "list", "fts", list_by_fts },
	{ "list", "uring", list_by_ring },	{ "list", "batch", list_by_batch },
	{ "stat", "calls", stat_by_calls },	{ "stat", "uring", stat_by_ring },
	{ "stat", "batch", stat_by_batch },	{ "read", "calls", read_by_calls },
	{ "read", "uring", read_by_ring },	{ "read", "batch", read_by_batch },
	{ "unlink", "calls", unlink_by_calls },	{ "unlink", "uring", unlink_by_ring },
	{ "unlink", "batch", unlink_by_batch },	{ "copy", "calls", copy_by_calls },
	{ "copy", "range", copy_by_range },	{ "copy", "batch", copy_by_batch },
};

/* Make the names of the files of make_tree() of ../common/processes.sh, in @top. */
static void make_names(const char *top, const char **names)
{
	for (int i = 0; i < FILES; i++) {
		char *name;

		if (asprintf(&name, "%s/folder-%d/file-%d.txt", top, i / (FILES / FOLDERS),
			     i % (FILES / FOLDERS)) < 0)
			err(1, "asprintf");
		names[i] = name;
	}
}

int main(int argc, char **argv)
{
	const char *executor = getenv("COSY_EXECUTOR");
	const char *way = executor && !strcmp(executor, "native") ? argv[2] : "batch";
	int passes = argc > 3 ? atoi(argv[3]) : 1;

	if (argc < 3)
		errx(2, "usage: files OPERATION OTHER [PASSES]");
	make_names("tree", paths);
	make_names("new", copies);
	if (!strcmp(way, "uring")) {
		uring_open();
		uring_register_files(URING_BATCH);
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].operation) || strcmp(way, ways[i].way))
			continue;
		while (passes--)
			ways[i].run("tree");
		printf("%lu\n", sum);
		return 0;
	}
	errx(2, "%s has no way '%s'", argv[1], way);
}
