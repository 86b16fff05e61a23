// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * copy.c - cosy_copy_file(): copy the contents of a regular file.
 *
 * Nothing looks at the buffer between read() and write(), so that the module
 * passes pages on and never fills it. What could not be written is therefore read
 * again.
 */
#include <cosy.h>
#include <cosy/batch.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "device/export.h"
#include "open.h"

enum { CHUNK = 16 * 1024 };

/*
 * Open the destination. An existing file is not truncated by opening it, for it
 * may be the source. Return the descriptor, or a negative errno; *@exists tells
 * whether the file was there.
 */
static inline int open_destination(int dirfd, const char *path, mode_t mode,
				   bool exclusive, bool *exists)
{
	int fd = openat(dirfd, path,
			O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, mode);

	*exists = false;
	if (fd >= 0)
		return fd;
	if (exclusive || errno != EEXIST)
		return -errno;
	*exists = true;
	/* O_CREAT: a symbolic link may lead to a file that is to be created. */
	fd = cosy_open_regular(dirfd, path, O_WRONLY | O_CREAT, mode);
	return fd < 0 ? -errno : fd;
}

/*
 * Check that a destination that was there may be overwritten, and empty it. Return 0
 * or a negative errno.
 */
static inline int empty_destination(int out, const struct stat *from)
{
	struct stat to;
	int error;

	if (fstat(out, &to) < 0)
		return -errno;
	error = cosy_check_regular(&to);
	if (error < 0)
		return error;
	if (to.st_dev == from->st_dev && to.st_ino == from->st_ino)
		return -EINVAL;
	if (to.st_size > 0 && ftruncate(out, 0) < 0)
		return -errno;
	return 0;
}

/*
 * Find the data after @end, where a hole begins: return where it begins, with @in
 * and @out positioned there, and set *@data_end to its end. Return -1 and errno,
 * ENXIO if there is none.
 */
static inline off_t next_data(int in, int out, off_t end, off_t *data_end)
{
	off_t at = lseek(in, end, SEEK_DATA), hole;

	if (at < 0)
		return -1;
	hole = lseek(in, at, SEEK_HOLE);
	if (hole < 0 || lseek(in, at, SEEK_SET) < 0 ||
	    lseek(out, at, SEEK_SET) < 0)
		return -1;
	*data_end = hole;
	return at;
}

/*
 * Copy the data of @in to @out by means of @buffer, and set *@at to its end. Holes are skipped if
 * @sparse; then @out gets the size of the file at the end. Return 0 or a negative errno.
 */
static inline int copy_data(int in, int out, char *buffer, bool sparse, off_t size, off_t *at)
{
	/* The end of the data at *@at. A file without holes is data of any size. */
	off_t data_end = sparse ? 0 : INT64_MAX;
	ssize_t n, written;
	size_t room;

	for (;;) {
		if (*at == data_end) {
			*at = next_data(in, out, *at, &data_end);
			if (*at < 0) {
				*at = data_end;
				/* ENXIO: a hole is all that follows. */
				if (errno != ENXIO)
					return -errno;
				break;
			}
		}
		room = data_end - *at < CHUNK ? data_end - *at : CHUNK;
		n = read(in, buffer, room);
		if (n < 0)
			return -errno;
		if (n == 0) {
			/* The end; files of sysfs have larger sizes. */
			size = *at;
			break;
		}
		written = write(out, buffer, n);
		if (written < 0)
			return -errno;
		/* Trying again would never end. */
		if (written == 0)
			return -ENOSPC;
		*at += written;
		if (written < n && lseek(in, *at, SEEK_SET) < 0)
			return -errno;
	}
	if (!sparse)
		return 0;
	if (ftruncate(out, size) < 0)
		return -errno;
	*at = size;
	return 0;
}

COSY_EXPORT int cosy_copy_file(int from_dirfd, const char *from, int to_dirfd,
			       const char *to, int flags, off_t *copied)
{
	const int in_flags = flags & COSY_COPY_NOFOLLOW ? O_NOFOLLOW : 0;
	const bool exclusive = flags & COSY_COPY_EXCLUSIVE;
	const int saved_errno = errno;
	off_t at = 0;
	bool exists, sparse;
	int cancel_state, error, in, out;
	struct stat status;
	char buffer[CHUNK];

	if (copied)
		*copied = 0;
	if (flags & ~(COSY_COPY_EXCLUSIVE | COSY_COPY_NOFOLLOW))
		return -EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);

	COSY_START;
	error = 0;
	in = cosy_open_regular(from_dirfd, from, O_RDONLY | in_flags, 0);
	if (in < 0) {
		error = -errno;
		goto leave;
	}
	if (fstat(in, &status) < 0)
		error = -errno;
	else
		error = cosy_check_regular(&status);
	if (error < 0)
		goto close_in;
	out = open_destination(to_dirfd, to, status.st_mode & 0777, exclusive,
			       &exists);
	if (out < 0) {
		error = out;
		goto close_in;
	}
	if (exists) {
		error = empty_destination(out, &status);
		if (error < 0)
			goto close_out;
	}
	sparse = status.st_blocks < status.st_size / 512;
	error = copy_data(in, out, buffer, sparse, status.st_size, &at);
close_out:
	if (close(out) < 0 && error == 0)
		error = -errno;
close_in:
	close(in);
leave:
	COSY_END;

	pthread_setcancelstate(cancel_state, NULL);
	errno = saved_errno;
	if (copied)
		*copied = at;
	return error;
}
