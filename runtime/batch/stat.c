// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * stat.c - cosy_stat_many(): the status of many files.
 */
#include <cosy.h>
#include <cosy/batch.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

#include "device/export.h"

COSY_EXPORT ssize_t cosy_stat_many(int dirfd, const char *const *paths,
				   size_t count, int flags, struct stat *status,
				   int *results)
{
	const int known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
	const int saved_errno = errno;
	ssize_t taken = 0;
	int result;

	if (flags & ~known || count > PTRDIFF_MAX / sizeof(*status))
		return -EINVAL;

	COSY_START;
	for (size_t i = 0; i < count; i++) {
		if (fstatat(dirfd, paths[i], &status[i], flags) < 0) {
			result = -errno;
		} else {
			result = 0;
			taken++;
		}
		results[i] = result;
	}
	COSY_END;
	errno = saved_errno;
	return taken;
}
