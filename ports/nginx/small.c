// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * small.c - small files of nginx.
 */
#include "small.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef WITH_COSY
#include <cosy.h>
#else
#define COSY_START
#define COSY_END
#endif

#define FLAT (SMALL_ROOM + 1024) /* A small file and its header. */

static void load(const char *name, struct small *small)
{
	char *buffer = small->data;
	struct stat *st = &small->stat;
	ssize_t size = -1;
	int error = 0, fd;

	COSY_START;
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		error = errno;
	} else {
		if (fstat(fd, st) < 0)
			error = errno;
		else if (S_ISREG(st->st_mode) && st->st_size <= SMALL_ROOM)
			size = read(fd, buffer, (size_t)st->st_size);
		close(fd);
	}
	COSY_END;
	small->error = error;
	/* A file that has become shorter is read again, by nginx's own code. */
	small->size = !error && size == st->st_size ? size : -1;
}

const struct small *small_get(uint64_t request, const char *name)
{
	static char last[PATH_MAX];
	static struct small small;
	static uint64_t of;

	if (of == request && !strcmp(last, name))
		return &small;
	load(name, &small);
	of = request;
	/* A longer name has no file. */
	if (!memccpy(last, name, 0, sizeof(last)))
		*last = 0;
	return &small;
}

ssize_t small_writev(int fd, const struct iovec *parts, int count, int flags)
{
	char flat[FLAT];
	size_t size = 0;

	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > sizeof(flat))
		return writev(fd, parts, count);
	if (count == 1)
		return send(fd, parts->iov_base, size, flags);
	size = 0;
	for (int i = 0; i < count; i++) {
		memcpy(flat + size, parts[i].iov_base, parts[i].iov_len);
		size += parts[i].iov_len;
	}
	return send(fd, flat, size, flags);
}
