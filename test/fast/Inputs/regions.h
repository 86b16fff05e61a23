/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * regions.h - one region for each kind of fast path, for tests of observers and rules. Each
 * returns its result.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "copy.h"
#include "ends.h"

/* Larger than any file of slurp(), whose loop has no other end. */
#ifndef REGION_BUFFER
#define REGION_BUFFER (1 << 17)
#endif
static char region_buffer[REGION_BUFFER];

/* A private file, read completely at once. */
static inline struct end slurp(const char *name, int flags)
{
	long total = 0;
	int error = 0, closed = 0;

	COSY_START;
	int fd = open(name, flags);
	if (fd < 0) {
		error = errno;
	} else {
		ssize_t n;

		while ((n = read(fd, region_buffer + total, 4096)) > 0)
			total += n;
		if (n < 0)
			error = errno;
		closed = close(fd);
	}
	COSY_END;
	return (struct end){ total, closed, error };
}

/* A private file that is written. */
static inline struct end create(const char *name, int flags, size_t size)
{
	long total = 0;
	int error = 0, closed = 0;

	COSY_START;
	int fd = open(name, flags | O_CREAT, 0600);
	if (fd < 0) {
		error = errno;
	} else {
		for (int i = 0; i < 4; i++) {
			ssize_t n = write(fd, region_buffer, size);

			if (n < 0) {
				error = errno;
				break;
			}
			total += n;
		}
		closed = close(fd);
	}
	COSY_END;
	return (struct end){ total, closed, error };
}

/* lseek and read as one call, then lseek and write. */
static inline struct end read_at(int fd, off_t offset, size_t size)
{
	long at, n;
	int error = 0;

	COSY_START;
	at = lseek(fd, offset, SEEK_SET);
	n = read(fd, region_buffer, size);
	if (n < 0)
		error = errno;
	COSY_END;
	return (struct end){ at, n, error };
}

static inline struct end write_at(int fd, off_t offset, size_t size)
{
	long at, n;
	int error = 0;

	COSY_START;
	at = lseek(fd, offset, SEEK_SET);
	n = write(fd, region_buffer, size);
	if (n < 0)
		error = errno;
	COSY_END;
	return (struct end){ at, n, error };
}

/* Calls with a name, one for each result. */
#define NAME_CALLS	16
static inline void names(const char *name, const char *other, struct stat *st, int results[NAME_CALLS])
{
	static char text[100], large[70000];
	int e;

#define RESULT(i, call) do {						\
		errno = 0;						\
		e = (call);						\
		results[i] = e < 0 ? -errno : e != 0;			\
	} while (0)
	COSY_START;
	RESULT(0, stat(name, st));
	RESULT(1, fstatat(AT_FDCWD, name, st, AT_SYMLINK_NOFOLLOW));
	RESULT(2, access(name, R_OK | W_OK));
	RESULT(3, (int)readlink(name, text, sizeof(text)));
	RESULT(4, chmod(name, 0640));
	RESULT(5, truncate(name, 1234));
	RESULT(6, link(name, other));
	RESULT(7, unlink(other));
	RESULT(8, rename(name, other));
	RESULT(9, rename(other, name));
	RESULT(10, mkdir(other, 0700));
	RESULT(11, rmdir(other));
	RESULT(12, (int)getxattr(name, "user.attribute", large, sizeof(large)));
	RESULT(13, (int)lgetxattr(name, "system.posix_acl_access", text, 0));
	RESULT(14, (int)llistxattr(name, large, sizeof(large)));
	RESULT(15, utimensat(AT_FDCWD, name, NULL, 0));
	COSY_END;
#undef RESULT
}

static inline void say_names_to(const char *name, const char *other)
{
	struct stat st;
	int results[NAME_CALLS];

	names(name, other, &st, results);
	printf("names, %s:", name);
	for (int i = 0; i < NAME_CALLS; i++)
		printf(" %d", results[i]);
	printf("\n");
}

static inline void say_names(const char *name)
{
	say_names_to(name, "other-name");
}

#endif /* REGIONS_H */
