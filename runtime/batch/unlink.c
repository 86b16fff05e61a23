// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * unlink.c - cosy_unlink_many(): remove many names.
 */
#include <cosy.h>
#include <cosy/batch.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "device/export.h"

COSY_EXPORT ssize_t cosy_unlink_many(int dirfd, const char *const *paths,
				     size_t count, int flags, int *results)
{
	const int saved_errno = errno;
	ssize_t removed = 0;
	int result;

	if (flags & ~AT_REMOVEDIR || count > PTRDIFF_MAX / sizeof(*paths))
		return -EINVAL;

	COSY_START;
	for (size_t i = 0; i < count; i++) {
		if (unlinkat(dirfd, paths[i], flags) < 0) {
			result = -errno;
		} else {
			result = 0;
			removed++;
		}
		results[i] = result;
	}
	COSY_END;
	errno = saved_errno;
	return removed;
}
