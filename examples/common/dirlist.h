/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * dirlist.h - read directories and the status of their entries, many per crossing.
 *
 * A program that walks a tree knows several directories that it will need next: the
 * sub-directories of the current one. It adds all of them to a list and takes them from it
 * one by one. Meanwhile a Cosy region opens, reads and closes as many of them at once as
 * fit into the buffers:
 *
 *	struct dirlist list;
 *	const struct dirlist_dir *dir;
 *
 *	dirlist_init(&list, paths, count, DIRLIST_VISIBLE, DIRLIST_STATUS);
 *	while ((dir = dirlist_next(&list)) != NULL)
 *		use(dir, dir->entries);
 *	dirlist_free(&list);
 *
 * Not thread-safe for one struct dirlist, and not async-signal-safe. If there is no memory,
 * a function ends the program with a message and DIRLIST_EXIT.
 */
#ifndef DIRLIST_H
#define DIRLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** DIRLIST_EXIT - the exit status of ls and grep after an error that ends them */
#define DIRLIST_EXIT 2

/** enum dirlist_names - the names that are read */
enum dirlist_names {
	DIRLIST_VISIBLE,	/* those that do not begin with a dot */
	DIRLIST_CHILDREN,	/* all but "." and ".." */
	DIRLIST_ALL,
};

/* Flags, see dirlist_init() and dirlist_paths(). */
#define DIRLIST_STATUS 1	/* status of each entry */
#define DIRLIST_NOFOLLOW 2	/* a path that is a symbolic link is an error */
#define DIRLIST_TARGETS 4	/* targets of the links whose status is taken */
#define DIRLIST_ENTER 8		/* the status of the directory for a link to one */

/**
 * struct dirlist_entry - a name in a directory
 * @status:       as from lstat(2), if it was requested
 * @name:         the name, an offset in @names of struct dirlist
 * @target:       the target of the symbolic link, also an offset; 0: unknown
 * @status_error: errno of the call for @status; 0: @status is valid, if it was
 *		  requested
 * @target_error: errno of the call for @target
 * @type:         DT_REG, DT_DIR, …, from <dirent.h>; DT_UNKNOWN only together
 *		  with @status_error
 */
struct dirlist_entry {
	struct stat status;
	size_t name;
	size_t target;
	int status_error;
	int target_error;
	unsigned char type;
};

/**
 * struct dirlist_dir - a directory that was read
 * @path:       as given by the caller
 * @open_error: errno of opening it; then there are no entries
 * @read_error: errno of reading further entries; the entries before are valid
 * @first:      its first entry, an index in @entries of struct dirlist
 * @count:      number of entries, in the order of the file system
 */
struct dirlist_dir {
	const char *path;
	int open_error;
	int read_error;
	size_t first;
	size_t count;
};

/**
 * struct dirlist - directories to read, and the buffers for them
 *
 * Callers use @names and @entries for the results of dirlist_next(). The other members
 * are the position of the region, so that it can end anywhere.
 */
struct dirlist {
	char *names;
	size_t names_used, names_size;
	struct dirlist_entry *entries;
	size_t entries_used, entries_size;
	struct dirlist_dir *dirs;
	size_t ndirs, dirs_read, dirs_taken;
	enum dirlist_names which;
	int flags;
	int fd;			/* of dirs[dirs_read], -1: not open */
	size_t at, end;		/* the unread part of its last getdents64 */
};

/**
 * dirlist_init() - initialise a list
 * @list:  freed by dirlist_free()
 * @paths: the directories, relative to the working directory; kept, not copied
 * @count: number of @paths
 * @which: the names to read
 * @flags: DIRLIST_STATUS, DIRLIST_NOFOLLOW, DIRLIST_TARGETS. Without DIRLIST_STATUS, a
 *	   status is taken only if the directory does not contain the type of an entry
 */
void dirlist_init(struct dirlist *list, char *const *paths, size_t count,
		  enum dirlist_names which, int flags);

/**
 * dirlist_next() - take the next directory, in the order of the paths
 *
 * May read several directories, which the following calls return.
 *
 * Return: the directory, or NULL if none is left. It is valid until the next call.
 */
const struct dirlist_dir *dirlist_next(struct dirlist *list);

/**
 * dirlist_paths() - take the status of paths, as of entries of a directory
 * @list:  freed by dirlist_free()
 * @paths: the paths, relative to the working directory; copied
 * @count: number of @paths, and of the entries, in the same order
 * @flags: DIRLIST_TARGETS, DIRLIST_ENTER. With the latter, a link that cannot be followed
 *	   is an error, except a dangling link
 */
void dirlist_paths(struct dirlist *list, char *const *paths, size_t count,
		   int flags);

/** dirlist_free() - free the buffers */
void dirlist_free(struct dirlist *list);

/** dirlist_join() - return DIRECTORY/NAME, which the caller frees */
char *dirlist_join(const char *directory, const char *name);

#endif /* DIRLIST_H */
