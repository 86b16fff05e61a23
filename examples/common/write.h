/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * write.h - write to a file until all is written.
 */
#ifndef WRITE_H
#define WRITE_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/**
 * write_some() - write(2) for callers that write the rest later
 * @n: not 0
 *
 * write() returns 0 where there is no room and the file system or device reports no error. Writing
 * the rest would then never end. As in coreutils, this is ENOSPC.
 *
 * Return: the number of bytes, at least 1; -1 and errno.
 */
static inline ssize_t write_some(int fd, const void *buffer, size_t n)
{
	ssize_t written = write(fd, buffer, n);

	if (written == 0) {
		errno = ENOSPC;
		return -1;
	}
	return written;
}

#endif /* WRITE_H */
