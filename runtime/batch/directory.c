// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * directory.c - cosy_dir_open(), …: list a directory, with the status of its
 * entries.
 *
 * One crossing fills a block of entries. Whatever needs no system call is done
 * after it, by machine code: the region only notes where the record of an entry
 * is, and takes its status.
 */
#include <cosy.h>
#include <cosy/batch.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/export.h"

/*
 * A block of entries together with their records stays below 128 KiB: from there on
 * malloc() would map memory anew for every directory.
 */
enum { RECORDS = 8192 };

/* The shortest record: a name of one byte. */
enum { RECORD_MIN = (offsetof(struct dirent64, d_name) + 2 + 7) & ~7 };

/*
 * Another getdents64 is worth while into so much room, which holds any record: a name with its NUL has at
 * most PATH_MAX bytes, and those of FUSE may be so long on new kernels.
 */
enum { ROOM_MIN = (offsetof(struct dirent64, d_name) + PATH_MAX + 7) & ~7 };

/*
 * @fd:      the directory, -1 after the end was reached
 * @rewind:  its position is the caller's, too, and is set to the beginning at the end
 * @status:  of each entry is wanted
 * @error:   of the last attempt to read on, not yet returned; 0: none
 * @count:   entries in the block
 * @fresh:   the block was not yet returned
 */
struct cosy_dir {
	int fd;
	bool rewind;
	bool status;
	int error;
	size_t count;
	bool fresh;
	struct cosy_dir_entry entries[RECORDS / RECORD_MIN];
	_Alignas(struct dirent64) char records[RECORDS];
};

/* Fill in what the record of an entry says. */
static void complete(struct cosy_dir_entry *entry, bool wanted)
{
	const struct dirent64 *record = (const void *)entry->name;

	entry->name = record->d_name;
	entry->inode = record->d_ino;
	entry->type = record->d_type;
	if (!wanted && record->d_type != DT_UNKNOWN)
		entry->result = -ENODATA;
	else if (entry->result == 0)
		entry->type = IFTODT(entry->status.st_mode);
}

/*
 * Fill the block, and open the directory before unless it is open. Close it at
 * its end. Return 0, or a negative errno with the entries before the failure in
 * the block.
 */
static int fill(struct cosy_dir *dir, int dirfd, const char *path, int flags)
{
	const int saved_errno = errno;
	const bool wanted = dir->status, rewind = dir->rewind;
	struct cosy_dir_entry *entry = dir->entries;
	char *const records = dir->records;
	const struct dirent64 *record;
	size_t used = 0, end, room;
	int fd = dir->fd, error = 0, result, cancel_state;
	ssize_t n;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);

	COSY_START;
	if (fd < 0) {
		fd = openat(dirfd, path, flags);
		if (fd < 0) {
			error = -errno;
			goto leave;
		}
	}
	do {
		room = RECORDS - used;
		/*
		 * It never is. But the compiler has to see that the size fits
		 * into an int: libc does more than the call for larger ones.
		 */
		if (room > RECORDS)
			room = RECORDS;
		n = getdents64(fd, records + used, room);
		if (n <= 0) {
			/* ENOENT: the directory was removed. readdir() ends, too. */
			if (n < 0 && errno != ENOENT) {
				error = -errno;
			} else {
				if (rewind)
					lseek(fd, 0, SEEK_SET);
				close(fd);
				fd = -1;
			}
			break;
		}
		for (end = used + n; used < end; used += record->d_reclen) {
			record = (const struct dirent64 *)(records + used);
			if (record->d_name[0] == '.' &&
			    (record->d_name[1] == '\0' ||
			     (record->d_name[1] == '.' &&
			      record->d_name[2] == '\0')))
				continue;
			entry->name = (const char *)record;
			if (wanted || record->d_type == DT_UNKNOWN) {
				result = 0;
				if (fstatat(fd, record->d_name, &entry->status,
					    AT_SYMLINK_NOFOLLOW) < 0)
					result = -errno;
				entry->result = result;
			}
			entry++;
		}
	} while (RECORDS - used >= ROOM_MIN);
leave:
	COSY_END;

	pthread_setcancelstate(cancel_state, NULL);
	errno = saved_errno;
	dir->fd = fd;
	dir->count = entry - dir->entries;
	for (size_t i = 0; i < dir->count; i++)
		complete(&dir->entries[i], wanted);
	return error;
}

/* Close a descriptor; this is not a cancellation point. */
static void close_uncancelled(int fd)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	close(fd);
	pthread_setcancelstate(cancel_state, NULL);
}

/*
 * Return a duplicate of the descriptor of a directory that can be read, or a negative errno, as
 * fdopendir(). Opening "." below it would need the permission to search it, and has a position of
 * its own.
 */
static int duplicate(int dirfd)
{
	int fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0), error = 0, flags;
	struct stat status;

	if (fd < 0)
		return -errno;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &status) < 0)
		error = -errno;
	else if (!S_ISDIR(status.st_mode))
		error = -ENOTDIR;
	else if (flags & O_PATH)
		error = -EBADF;
	if (error == 0)
		return fd;
	close_uncancelled(fd);
	return error;
}

COSY_EXPORT int cosy_dir_open(struct cosy_dir **opened, int dirfd,
			      const char *path, int flags)
{
	int open_flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	const int saved_errno = errno;
	struct cosy_dir *dir;
	int error;

	*opened = NULL;
	if (flags & ~(COSY_DIR_STATUS | COSY_DIR_NOFOLLOW | COSY_DIR_EMPTY_PATH))
		return -EINVAL;
	if (flags & COSY_DIR_NOFOLLOW)
		open_flags |= O_NOFOLLOW;
	dir = malloc(sizeof(*dir));
	if (!dir) {
		errno = saved_errno;
		return -ENOMEM;
	}
	dir->rewind = flags & COSY_DIR_EMPTY_PATH && !*path;
	dir->fd = dir->rewind ? duplicate(dirfd) : -1;
	dir->status = flags & COSY_DIR_STATUS;
	errno = saved_errno;
	if (dir->rewind && dir->fd < 0)
		error = dir->fd;
	else
		error = fill(dir, dirfd, path, open_flags);
	if (dir->fd < 0 && error < 0) {
		cosy_dir_close(dir);
		return error;
	}
	dir->error = error;
	dir->fresh = true;
	*opened = dir;
	return 0;
}

COSY_EXPORT ssize_t cosy_dir_read(struct cosy_dir *dir,
				  const struct cosy_dir_entry **entries)
{
	int error;

	*entries = dir->entries;
	if (!dir->fresh && !dir->error) {
		dir->count = 0;
		if (dir->fd >= 0)
			dir->error = fill(dir, -1, NULL, 0);
		dir->fresh = true;
	}
	/* The entries before a failure come first. */
	if (dir->fresh && (dir->count > 0 || !dir->error)) {
		dir->fresh = false;
		return dir->count;
	}
	error = dir->error;
	dir->error = 0;
	dir->fresh = false;
	return error;
}

COSY_EXPORT void cosy_dir_close(struct cosy_dir *dir)
{
	const int saved_errno = errno;

	if (dir && dir->fd >= 0) {
		if (dir->rewind)
			lseek(dir->fd, 0, SEEK_SET);
		close_uncancelled(dir->fd);
	}
	free(dir);
	errno = saved_errno;
}
