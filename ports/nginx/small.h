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
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SMALL_ROOM (16 * 1024)

/**
 * struct small - what is known of a file
 * @error: 0, or errno of opening it
 * @size:  bytes of @data; -1 if the file is not a regular one, or larger than SMALL_ROOM
 * @stat:  valid if @error is 0
 * @data:  its contents
 */
struct small {
	int error;
	ssize_t size;
	struct stat stat;
	char data[SMALL_ROOM];
};

/**
 * small_get() - get a file's status, and its contents if it is small
 * @request: a number that no other request has
 * @name:    its name
 *
 * The file is not opened again if the last call was for the same request and name.
 *
 * Return: what is known of the file, until the next call.
 */
const struct small *small_get(uint64_t request, const char *name);

/** small_writev() - writev() to a socket; small parts are copied, so that one buffer is sent, with @flags */
ssize_t small_writev(int fd, const struct iovec *parts, int count, int flags);

#endif /* SMALL_H */
