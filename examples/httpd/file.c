// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * file.c - files below the root.
 *
 * This is the file with the region: the four calls for a small file are one entry into the kernel.
 */
#include "file.h"

#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int root_directory = -1;
static const struct open_how beneath = {
	.flags = FLAGS,
	.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
};

void file_set_root(int root)
{
	root_directory = root;
}

static inline int open_file(const char *name, int root)
{
	return root < 0 ? open(name, FLAGS) :
			  (int)syscall(SYS_openat2, root, name, &beneath, sizeof(beneath));
}

/*
 * The descriptor never leaves the region. So the module need not install it, and a large file is
 * opened again.
 */
void file_load(const char *name, char *buffer, size_t room, struct file *file)
{
	int root = root_directory, error = 0, fd;
	struct stat *st = &file->stat;
	ssize_t loaded = -1;

	COSY_START;
	fd = open_file(name, root);
	if (fd < 0) {
		error = errno;
	} else {
		if (fstat(fd, st) < 0)
			error = errno;
		else if (S_ISREG(st->st_mode) && (uint64_t)st->st_size <= room) {
			loaded = read(fd, buffer, (size_t)st->st_size);
			if (loaded < 0)
				error = errno;
		}
		close(fd);
	}
	COSY_END;
	file->error = error;
	file->loaded = loaded;
}

int file_open(const char *name, struct stat *stat)
{
	int fd = open_file(name, root_directory), error;

	if (fd < 0)
		return -errno;
	error = fstat(fd, stat) < 0 ? errno : S_ISREG(stat->st_mode) ? 0 : EACCES;
	if (error) {
		close(fd);
		return -error;
	}
	return fd;
}
