// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * dirlist.c - read directories, and what their entries are, many per crossing.
 *
 * Both regions write where their results are wanted: names stay where
 * getdents64 put them, a link's target follows the names it came with, and
 * fstatat fills the status in the entry itself. When a buffer is full the region
 * is left, the buffer grown, and the region entered again where it was.
 */
#include "dirlist.h"

#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Buffers to begin with. Where more than half of one is used, no further
 * directory is begun, so that they grow only for a directory that needs it. */
enum { NAMES = 256 * 1024, ENTRIES = 2048 };

/* Names are read in steps of this, and never into less room than that. */
enum { STEP = 32 * 1024, STEP_MIN = 4096 };

/* A link's target is at most PATH_MAX long; a NUL and alignment follow it. */
enum { TARGET_ROOM = PATH_MAX + 8 };

static void *resize(void *memory, size_t count, size_t size)
{
	memory = reallocarray(memory, count, size);
	if (!memory)
		error(DIRLIST_EXIT, errno, "cannot read directories");
	return memory;
}

/* The buffers of the list freed last: whoever walks a tree wants them again. */
static char *spare_names;
static struct dirlist_entry *spare_entries;

static void get_buffers(struct dirlist *list)
{
	list->names_size = NAMES;
	list->names = spare_names ? spare_names : resize(NULL, NAMES, 1);
	spare_names = NULL;
	list->entries_size = ENTRIES;
	list->entries = spare_entries ? spare_entries :
			resize(NULL, ENTRIES, sizeof(*list->entries));
	spare_entries = NULL;
}

static void put_buffers(struct dirlist *list)
{
	if (list->names_size == NAMES && !spare_names)
		spare_names = list->names;
	else
		free(list->names);
	if (list->entries_size == ENTRIES && !spare_entries)
		spare_entries = list->entries;
	else
		free(list->entries);
}

/* Grows the names for at least one more step, or the entries for one more. */
static void grow(struct dirlist *list)
{
	if (list->entries_used == list->entries_size) {
		list->entries_size *= 2;
		list->entries = resize(list->entries, list->entries_size,
				       sizeof(*list->entries));
	} else {
		list->names_size *= 2;
		list->names = resize(list->names, list->names_size, 1);
	}
}

/*
 * The status of one entry, and if it is a symbolic link its target, which goes
 * to names + used. Returns how much of names is used now.
 */
static inline size_t take_status(int dirfd, const char *name, int enter,
				 struct dirlist_entry *entry, char *names,
				 size_t used)
{
	ssize_t n;

	if (!enter || fstatat(dirfd, name, &entry->status, 0) < 0 ||
	    !S_ISDIR(entry->status.st_mode)) {
		if (fstatat(dirfd, name, &entry->status,
			    AT_SYMLINK_NOFOLLOW) < 0) {
			entry->status_error = errno;
			return used;
		}
	}
	entry->type = IFTODT(entry->status.st_mode);
	if (entry->type != DT_LNK)
		return used;
	n = readlinkat(dirfd, name, names + used, PATH_MAX);
	if (n < 0) {
		entry->target_error = errno;
		return used;
	}
	names[used + n] = '\0';
	entry->target = used;
	return (used + n + 8) & ~(size_t)7;
}

/*
 * Reads directories until all are read, enough are read, or a buffer is full:
 * returns false if it is.
 */
static bool read_dirs(struct dirlist *list)
{
	/* Everything the region uses is in locals: what is in memory costs it
	 * an access to user memory each time. */
	struct dirlist_dir *dirs = list->dirs;
	size_t d = list->dirs_read, ndirs = list->ndirs;
	struct dirlist_entry *entries = list->entries;
	size_t used = list->names_used, size = list->names_size;
	size_t nentries = list->entries_used, max = list->entries_size;
	char *names = list->names;
	size_t at = list->at, end = list->end;
	enum dirlist_names which = list->which;
	int status = list->flags & DIRLIST_STATUS;
	int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_DIRECTORY | O_NOCTTY;
	int fd = list->fd;
	bool fits = true;

	if (list->flags & DIRLIST_NOFOLLOW)
		flags |= O_NOFOLLOW;

	COSY_START;
	for (; d < ndirs; d++) {
		if (fd < 0) {
			if (used > size / 2 || nentries > max / 2)
				break;
			fd = open(dirs[d].path, flags);
			if (fd < 0) {
				dirs[d].open_error = errno;
				continue;
			}
			dirs[d].first = nentries;
			at = end = used;
		}
		for (;;) {
			struct dirent64 *dirent;
			struct dirlist_entry *entry;
			size_t room;
			ssize_t n;

			if (size - used < TARGET_ROOM + STEP_MIN ||
			    nentries == max) {
				fits = false;
				goto leave;
			}
			if (at == end) {
				room = size - used - TARGET_ROOM;
				if (room > STEP)
					room = STEP;
				n = getdents64(fd, names + used, room);
				/* ENOENT: removed while it was read. */
				if (n < 0 && errno != ENOENT)
					dirs[d].read_error = errno;
				if (n <= 0)
					break;
				at = used;
				end = used += n;
			}
			dirent = (struct dirent64 *)(names + at);
			at += dirent->d_reclen;
			if (which != DIRLIST_ALL && dirent->d_name[0] == '.' &&
			    (which == DIRLIST_VISIBLE ||
			     dirent->d_name[1] == '\0' ||
			     (dirent->d_name[1] == '.' &&
			      dirent->d_name[2] == '\0')))
				continue;
			entry = &entries[nentries++];
			entry->name = dirent->d_name - names;
			entry->target = 0;
			entry->status_error = 0;
			entry->target_error = 0;
			entry->type = dirent->d_type;
			if (status || dirent->d_type == DT_UNKNOWN)
				used = take_status(fd, dirent->d_name, 0,
						   entry, names, used);
		}
		dirs[d].count = nentries - dirs[d].first;
		close(fd);
		fd = -1;
	}
leave:
	COSY_END;

	list->dirs_read = d;
	list->names_used = used;
	list->entries_used = nentries;
	list->at = at;
	list->end = end;
	list->fd = fd;
	return fits;
}

/* Takes the status of entries until all have it, or names are full. */
static bool read_status(struct dirlist *list, size_t count, int enter)
{
	struct dirlist_entry *entries = list->entries;
	size_t used = list->names_used, size = list->names_size;
	size_t nentries = list->entries_used;
	char *names = list->names;
	bool fits = true;

	COSY_START;
	for (; nentries < count; nentries++) {
		if (size - used < TARGET_ROOM) {
			fits = false;
			break;
		}
		used = take_status(AT_FDCWD, names + entries[nentries].name,
				   enter, &entries[nentries], names, used);
	}
	COSY_END;

	list->names_used = used;
	list->entries_used = nentries;
	return fits;
}

void dirlist_init(struct dirlist *list, char *const *paths, size_t count,
		  enum dirlist_names which, int flags)
{
	*list = (struct dirlist){ .fd = -1 };
	if (!count)
		return;
	get_buffers(list);
	list->dirs = resize(NULL, count, sizeof(*list->dirs));
	for (size_t i = 0; i < count; i++)
		list->dirs[i] = (struct dirlist_dir){ .path = paths[i] };
	list->ndirs = count;
	list->which = which;
	list->flags = flags;
}

const struct dirlist_dir *dirlist_next(struct dirlist *list)
{
	if (list->dirs_taken == list->ndirs)
		return NULL;
	if (list->dirs_taken == list->dirs_read) {
		list->names_used = 0;
		list->entries_used = 0;
		while (!read_dirs(list))
			grow(list);
	}
	return &list->dirs[list->dirs_taken++];
}

void dirlist_paths(struct dirlist *list, char *const *paths, size_t count,
		   bool enter)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += strlen(paths[i]) + 1;
	*list = (struct dirlist){ .fd = -1 };
	list->names_size = total + TARGET_ROOM;
	list->names = resize(NULL, list->names_size, 1);
	list->entries_size = count + 1;
	list->entries = resize(NULL, list->entries_size,
			       sizeof(*list->entries));
	for (size_t i = 0; i < count; i++) {
		list->entries[i] = (struct dirlist_entry){
			.name = list->names_used,
		};
		list->names_used = stpcpy(list->names + list->names_used,
					  paths[i]) + 1 - list->names;
	}
	while (!read_status(list, count, enter))
		grow(list);
}

void dirlist_free(struct dirlist *list)
{
	if (list->fd >= 0)
		close(list->fd);
	put_buffers(list);
	free(list->dirs);
}

char *dirlist_join(const char *directory, const char *name)
{
	size_t length = strlen(directory), name_size = strlen(name) + 1;
	char *path;

	/* One slash between them, as long as that is not the root's. */
	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (length == 1 && directory[0] == '/')
		length = 0;
	path = resize(NULL, length + 1 + name_size, 1);
	memcpy(path, directory, length);
	path[length] = '/';
	memcpy(path + length + 1, name, name_size);
	return path;
}
