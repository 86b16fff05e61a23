/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * more-regions.h - regions that regions.h does not have, for tests of security modules.
 */
#ifndef MORE_REGIONS_H
#define MORE_REGIONS_H

#include "regions.h"

#include <dirent.h>
#include <sys/socket.h>

/* Entries from the dentry cache. */
static inline struct end list(const char *name)
{
	static char buffer[4096];
	struct dirent64 *entry;
	long n, at, total = 0;
	struct statx more;
	struct stat st;
	int dir, failed = 0;

	COSY_START;
	dir = open(name, O_RDONLY | O_DIRECTORY);
	while ((n = getdents64(dir, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < n; at += entry->d_reclen) {
			entry = (struct dirent64 *)(buffer + at);
			if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
				failed++;
			if (statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &more))
				failed++;
			total++;
		}
	}
	close(dir);
	COSY_END;
	return (struct end){ total, failed, 0 };
}

static inline struct end copy_at(int in, int out, size_t size)
{
	static char buffer[65536];
	long total = 0;
	ssize_t n;

	COSY_START;
	while ((n = pread(in, buffer, size, total)) > 0 &&
	       pwrite(out, buffer, (size_t)n, total) == n)
		total += n;
	COSY_END;
	return (struct end){ total, n, 0 };
}

static inline struct end copy_by_send(int in, int out, size_t size)
{
	static char buffer[65536];
	long total = 0;
	ssize_t n;

	COSY_START;
	while ((n = read(in, buffer, size)) > 0 && send(out, buffer, (size_t)n, 0) == n)
		total += n;
	COSY_END;
	return (struct end){ total, n, 0 };
}

/* All calls that accept a private file. */
static inline struct end private(const char *name)
{
	long total = 0;
	struct stat st;
	char bytes[100];

	COSY_START;
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	total += write(fd, "0123456789", 10);
	total += pwrite(fd, "01234", 5, 20);
	total += lseek(fd, 3, SEEK_SET);
	total += read(fd, bytes, sizeof(bytes));
	total += pread(fd, bytes, sizeof(bytes), 1);
	total += fstat(fd, &st);
	total += stat(name, &st);
	close(fd);
	COSY_END;
	return (struct end){ total, 0, 0 };
}

/* Calls with a name in an open directory. */
static inline struct end names_at(const char *name)
{
	int dir = must_open(".", O_RDONLY | O_DIRECTORY), failed = 0, fd;
	struct statx more;
	struct stat st;
	char text[100];

	COSY_START;
	failed += fstatat(dir, name, &st, 0) != 0;
	failed += statx(dir, name, 0, STATX_ALL, &more) != 0;
	failed += faccessat(dir, name, R_OK, 0) != 0;
	failed += faccessat(dir, name, X_OK, AT_EACCESS) != 0;
	failed += fchmodat(dir, name, 0644, 0) != 0;
	failed += fchownat(dir, name, (uid_t)-1, (gid_t)-1, 0) != 0;
	failed += lchown(name, (uid_t)-1, (gid_t)-1) != 0;
	failed += symlinkat(name, dir, "a-link") != 0;
	failed += readlinkat(dir, "a-link", text, sizeof(text)) < 0;
	failed += stat("a-link", &st) != 0;
	failed += lstat("a-link", &st) != 0;
	failed += renameat2(dir, "a-link", dir, "b-link", RENAME_NOREPLACE) != 0;
	failed += linkat(dir, "b-link", dir, "hard", AT_SYMLINK_FOLLOW) != 0;
	failed += unlinkat(dir, "b-link", 0) != 0;
	failed += unlinkat(dir, "hard", 0) != 0;
	failed += mkdirat(dir, "dir", 0700) != 0;
	failed += unlinkat(dir, "dir", AT_REMOVEDIR) != 0;
	fd = openat(dir, name, O_WRONLY);
	failed += fd < 0;
	failed += close(fd) != 0;
	COSY_END;
	close(dir);
	return (struct end){ failed, 0, 0 };
}

#endif /* MORE_REGIONS_H */
