// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * read.c - cosy_read_many(): whole files into one buffer.
 *
 * The status says how large a file is, so that one that does not fit is not read
 * in vain. A file may be longer all the same: it grows, or it is one of /proc,
 * which have size 0. A read that returns less than there is room for, and reaches
 * that size, has found the end. Otherwise reading goes on to the end, and where the
 * buffer is full, one more byte is tried.
 */
#include <cosy.h>
#include <cosy/batch.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "device/export.h"
#include "open.h"

/* The largest read of a file of unknown size. Those of /proc/sys refuse 4 MiB. */
enum { CHUNK = 1 << 20 };

COSY_EXPORT ssize_t cosy_read_many(int dirfd, const char *const *paths,
				   size_t count, int flags, void *buffer,
				   size_t size, struct cosy_read_result *results)
{
	const int open_flags = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
	const int saved_errno = errno;
	char *const bytes = buffer;
	size_t item, used = 0, end, room;
	int cancel_state, error, fd;
	struct stat status;
	ssize_t n;
	char more;

	if (flags & ~AT_SYMLINK_NOFOLLOW || size > SSIZE_MAX ||
	    count > PTRDIFF_MAX / sizeof(*results))
		return -EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);

	COSY_START;
	for (item = 0; item < count; item++) {
		end = used;
		fd = cosy_open_regular(dirfd, paths[item], open_flags, 0);
		if (fd < 0) {
			error = -errno;
			goto failed;
		}
		if (fstat(fd, &status) < 0)
			error = -errno;
		else
			error = cosy_check_regular(&status);
		if (error == 0 && (uint64_t)status.st_size > size - used)
			error = -EFBIG;
		if (error < 0)
			goto close_file;
		do {
			room = size - end;
			if (status.st_size == 0 && room > CHUNK)
				room = CHUNK;
			n = read(fd, bytes + end, room);
			if (n > 0)
				end += n;
		} while (n > 0 && end < size &&
			 end - used != (size_t)status.st_size);
		if (n >= 0)
			n = end == size ? read(fd, &more, 1) : 0;
		if (n < 0)
			error = -errno;
		else if (n > 0)
			error = -EFBIG;
close_file:
		close(fd);
		/* It may fit into an empty buffer. */
		if (error == -EFBIG && used > 0)
			break;
failed:
		results[item].offset = used;
		if (error < 0) {
			results[item].length = error;
		} else {
			results[item].length = end - used;
			used = end;
		}
	}
	COSY_END;
	pthread_setcancelstate(cancel_state, NULL);
	errno = saved_errno;
	return item;
}
