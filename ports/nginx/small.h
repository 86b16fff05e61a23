/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * small.h - what nginx does for small files: they are read, and sent with the header in one call.
 *
 * That alone, without Cosy, is the variant "fair". In the variant "cosy" the calls for the file are a
 * region.
 */
#ifndef SMALL_H
#define SMALL_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SMALL_ROOM (16 * 1024)

/**
 * struct small - what small_load() has found
 * @error: 0, or errno
 * @size:  bytes in the buffer; -1 if the file is not a regular one, or larger
 * @stat:  valid if @error is 0
 */
struct small {
	int error;
	ssize_t size;
	struct stat stat;
};

/** small_load() - get a file's status, and its contents if they fit into @buffer, of SMALL_ROOM bytes */
void small_load(const char *name, void *buffer, struct small *small);

/** small_writev() - writev() to a socket; small parts are copied, so that one buffer is sent */
ssize_t small_writev(int fd, const struct iovec *parts, int count);

#endif /* SMALL_H */
