/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * open.h - open a file that must be regular, without waiting for another one.
 */
#ifndef COSY_BATCH_OPEN_H
#define COSY_BATCH_OPEN_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/**
 * cosy_open_regular() - open for a region
 * @dirfd: @path: @flags: @mode: as for openat(2)
 *
 * Opening does not wait for the other end of a FIFO, or for a device. O_NONBLOCK
 * does so; but it also fails with EAGAIN where a lease has to be broken first,
 * which is worth waiting for. Callers check with fstat() what was opened.
 *
 * Return: the descriptor; -1 and errno.
 */
static inline int cosy_open_regular(int dirfd, const char *path, int flags,
				    mode_t mode)
{
	struct stat status;
	int fd = openat(dirfd, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
			mode);

	if (fd >= 0 || errno != EAGAIN)
		return fd;
	if (fstatat(dirfd, path, &status, 0) < 0)
		return -1;
	if (!S_ISREG(status.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return openat(dirfd, path, flags | O_NOCTTY | O_CLOEXEC, mode);
}

/**
 * cosy_check_regular() - test whether a file is regular
 *
 * Return: 0; -EISDIR or -EINVAL if not.
 */
static inline int cosy_check_regular(const struct stat *status)
{
	if (S_ISREG(status->st_mode))
		return 0;
	return S_ISDIR(status->st_mode) ? -EISDIR : -EINVAL;
}

#endif /* COSY_BATCH_OPEN_H */
