// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * dirlist.c - read directories and the status of their entries, many per crossing.
 *
 * Both regions write to the final destination: names stay where getdents64 put them, a
 * link's target follows the names that came with it, and fstatat writes the status to the
 * entry itself. When a buffer is full, the region ends, the buffer is enlarged, and the
 * region is entered again at the same place.
 *
 * A saved crossing is worth about twenty operations of a compound. So the regions do
 * nothing for an entry that can be done before or after: clear() clears entries before, and
 * complete() completes them after.
 */
#include "dirlist.h"
#include "allocated.h"

#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Initial sizes of the buffers. If more than half of one is used, no further directory is
 * begun. So buffers grow only for a directory that needs it.
 */
enum { NAMES = 256 * 1024, ENTRIES = 4096 };

/*
 * Names are read in steps of this size, never into less room than the longest record, whose name
 * has PATH_MAX bytes, and only if there is room for the maximum number of entries of a step.
 */
enum { STEP = 32 * 1024, STEP_ENTRIES = STEP / 24 };
enum { STEP_MIN = (offsetof(struct dirent64, d_name) + PATH_MAX + 7) & ~7 };

/* A link's target is at most PATH_MAX long. A NUL and alignment follow it. */
enum { TARGET_ROOM = PATH_MAX + 8 };

static void *resize(void *memory, size_t count, size_t size)
{
	return allocated(reallocarray(memory, count, size), DIRLIST_EXIT);
}

/* The buffers of the list that was freed last. A walk of a tree reuses them. */
static char *spare_names;
static struct dirlist_entry *spare_entries;

/*
 * Entries are mapped, not allocated, because unused mapped memory is clear and takes no
 * memory. @old entries at @entries become @count.
 */
static struct dirlist_entry *map_entries(struct dirlist_entry *entries,
					 size_t old, size_t count)
{
	size_t size = count * sizeof(*entries);
	void *memory;

	if (entries)
		memory = mremap(entries, old * sizeof(*entries), size,
				MREMAP_MAYMOVE);
	else
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		error(DIRLIST_EXIT, errno, "cannot read directories");
	return memory;
}

static void get_buffers(struct dirlist *list)
{
	list->names_size = NAMES;
	list->names = spare_names ? spare_names : resize(NULL, NAMES, 1);
	spare_names = NULL;
	list->entries_size = ENTRIES;
	list->entries = spare_entries ? spare_entries :
					map_entries(NULL, 0, ENTRIES);
	spare_entries = NULL;
}

/* Empties the buffers. Entries that are not in use are cleared. */
static void clear(struct dirlist *list)
{
	for (size_t i = 0; i < list->entries_used; i++) {
		list->entries[i].target = 0;
		list->entries[i].status_error = 0;
		list->entries[i].target_error = 0;
	}
	list->entries_used = 0;
	list->names_used = 0;
}

static void put_buffers(struct dirlist *list)
{
	clear(list);
	if (list->names_size == NAMES && !spare_names)
		spare_names = list->names;
	else
		free(list->names);
	if (list->entries_size == ENTRIES && !spare_entries)
		spare_entries = list->entries;
	else
		munmap(list->entries,
		       list->entries_size * sizeof(*list->entries));
}

/* Enlarges buffers without room for another step or target. */
static void grow(struct dirlist *list)
{
	size_t size = list->entries_size;

	if (list->names_size - list->names_used < STEP_MIN + TARGET_ROOM) {
		list->names_size *= 2;
		list->names = resize(list->names, list->names_size, 1);
	}
	if (size - list->entries_used < STEP_ENTRIES) {
		list->entries_size *= 2;
		list->entries = map_entries(list->entries, size,
					    list->entries_size);
	}
}

/*
 * Determines the type of an entry, after its status was taken or was not needed. @type is
 * the type in the directory.
 */
static void complete(struct dirlist_entry *entry, bool status,
		     unsigned char type)
{
	if (!entry->status_error && (status || type == DT_UNKNOWN))
		type = IFTODT(entry->status.st_mode);
	entry->type = type;
}

/*
 * Stores the target of a symbolic link at names + used. Returns how much of names is used
 * then.
 */
static inline size_t take_target(int dirfd, const char *name,
				 struct dirlist_entry *entry, char *names,
				 size_t used)
{
	ssize_t n = readlinkat(dirfd, name, names + used, PATH_MAX);

	if (n < 0) {
		entry->target_error = errno;
		return used;
	}
	names[used + n] = '\0';
	entry->target = used;
	return (used + n + 8) & ~(size_t)7;
}

/* Takes the status of an entry. Returns true for a symbolic link, whose target is needed. */
static inline bool take_status(int dirfd, const char *name, struct dirlist_entry *entry,
			       bool targets)
{
	if (fstatat(dirfd, name, &entry->status, AT_SYMLINK_NOFOLLOW) < 0) {
		entry->status_error = errno;
		return false;
	}
	return targets && S_ISLNK(entry->status.st_mode);
}

/*
 * Reads the next entries of a directory. Returns their number of bytes; 0 or less at the end. Room
 * for a target remains.
 */
static inline ssize_t read_step(struct dirlist_dir *dir, int fd, char *names, size_t room)
{
	ssize_t n = getdents64(fd, names, room - TARGET_ROOM > STEP ? STEP : room - TARGET_ROOM);

	/* ENOENT: the directory was removed while it was read. */
	if (n < 0 && errno != ENOENT)
		dir->read_error = errno;
	return n;
}

/* Return true if an entry belongs to the list. */
static inline bool is_listed(const struct dirent64 *dirent, bool dots, bool hidden)
{
	const char *name = dirent->d_name;

	if (name[0] != '.' || dots)
		return true;
	return hidden && name[1] != '\0' && (name[1] != '.' || name[2] != '\0');
}

/* Replaces the places of @entries in the directory by their names and types. */
static void complete_all(struct dirlist_entry *entries, size_t count, char *names,
			 bool status)
{
	for (size_t i = 0; i < count; i++) {
		struct dirent64 *dirent = (void *)(names + entries[i].name);

		entries[i].name = dirent->d_name - names;
		complete(&entries[i], status, dirent->d_type);
	}
}

/*
 * Reads directories until all are read, enough are read, or a buffer is full. Returns false
 * if a buffer is full.
 */
static bool read_dirs(struct dirlist *list)
{
	/* In locals, because a region accesses variables in memory as user memory. */
	struct dirlist_dir *dir = list->dirs + list->dirs_read;
	struct dirlist_dir *last_dir = list->dirs + list->ndirs;
	struct dirlist_entry *entries = list->entries;
	struct dirlist_entry *entry = entries + list->entries_used;
	struct dirlist_entry *half = entries + list->entries_size / 2;
	struct dirlist_entry *full = entries + list->entries_size - STEP_ENTRIES;
	char *names = list->names;
	size_t used = list->names_used, size = list->names_size;
	size_t at = list->at, end = list->end;
	bool dots = list->which == DIRLIST_ALL;
	bool hidden = list->which != DIRLIST_VISIBLE;
	bool status = list->flags & DIRLIST_STATUS, targets = list->flags & DIRLIST_TARGETS;
	int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_DIRECTORY | O_NOCTTY |
		    (list->flags & DIRLIST_NOFOLLOW ? O_NOFOLLOW : 0);
	int fd = list->fd;
	struct dirent64 *dirent;
	ssize_t n;
	bool fits = true;

	COSY_START;
	for (; dir != last_dir; dir++) {
		if (fd < 0) {
			if (used > size / 2 || entry > half)
				break;
			fd = open(dir->path, flags);
			if (fd < 0) {
				dir->open_error = errno;
				continue;
			}
			dir->first = entry - entries;
			at = end = used;
		}
		for (;;) {
			if (at == end) {
				if (size - used < STEP_MIN + TARGET_ROOM || entry > full) {
					fits = false;
					goto leave;
				}
				n = read_step(dir, fd, names + used, size - used);
				if (n <= 0)
					break;
				at = used;
				end = used += n;
			}
			dirent = (struct dirent64 *)(names + at);
			if (!is_listed(dirent, dots, hidden)) {
				at += dirent->d_reclen;
				continue;
			}
			entry->name = at;
			if ((status || dirent->d_type == DT_UNKNOWN) &&
			    take_status(fd, dirent->d_name, entry, targets)) {
				if (size - used < TARGET_ROOM) {
					fits = false;
					goto leave;
				}
				used = take_target(fd, dirent->d_name, entry, names, used);
			}
			at += dirent->d_reclen;
			entry++;
		}
		dir->count = entry - entries - dir->first;
		close(fd);
		fd = -1;
	}
leave:
	COSY_END;

	complete_all(entries + list->entries_used,
		     entry - entries - list->entries_used, names, status);
	list->dirs_read = dir - list->dirs;
	list->names_used = used;
	list->entries_used = entry - entries;
	list->at = at;
	list->end = end;
	list->fd = fd;
	return fits;
}

/* Takes the status of entries until all have it, or until names are full. */
static bool read_status(struct dirlist *list, size_t count)
{
	struct dirlist_entry *entries = list->entries;
	struct dirlist_entry *entry = entries + list->entries_used;
	struct dirlist_entry *last = entries + count;
	char *names = list->names;
	size_t used = list->names_used, size = list->names_size;
	bool enter = list->flags & DIRLIST_ENTER, targets = list->flags & DIRLIST_TARGETS;

	COSY_START;
	for (; entry != last; entry++) {
		const char *name = names + entry->name;

		if (enter && fstatat(AT_FDCWD, name, &entry->status, 0) == 0) {
			if (S_ISDIR(entry->status.st_mode))
				continue;
		} else if (enter && errno != ENOENT) {
			/* A dangling link is listed itself. A loop is an error. */
			entry->status_error = errno;
			continue;
		}
		if (take_status(AT_FDCWD, name, entry, targets)) {
			if (size - used < TARGET_ROOM)
				break;
			used = take_target(AT_FDCWD, name, entry, names, used);
		}
	}
	COSY_END;

	for (size_t i = list->entries_used; entries + i < entry; i++)
		complete(&entries[i], true, DT_UNKNOWN);
	list->names_used = used;
	list->entries_used = entry - entries;
	return entry == last;
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
		clear(list);
		while (!read_dirs(list))
			grow(list);
	}
	return &list->dirs[list->dirs_taken++];
}

void dirlist_paths(struct dirlist *list, char *const *paths, size_t count,
		   int flags)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += strlen(paths[i]) + 1;
	*list = (struct dirlist){ .fd = -1, .flags = flags };
	list->names_size = total + TARGET_ROOM;
	list->names = resize(NULL, list->names_size, 1);
	list->entries_size = count + STEP_ENTRIES;
	list->entries = map_entries(NULL, 0, list->entries_size);
	for (size_t i = 0; i < count; i++) {
		list->entries[i].name = list->names_used;
		list->names_used = stpcpy(list->names + list->names_used,
					  paths[i]) + 1 - list->names;
	}
	while (!read_status(list, count))
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

	/* Insert one slash between them, unless the directory is the root. */
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
