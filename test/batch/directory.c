// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cosy_dir_open(), cosy_dir_read(): the entries of readdir() with the status of lstat().
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -pthread -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
#include <cosy/batch.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "Inputs/scratch.h"

#define MANY 10000

/* Compare with readdir() and lstat(); the order is the same. Return the number of entries. */
static size_t compare(const char *path, int flags)
{
	const struct cosy_dir_entry *entries;
	DIR *expected = opendir(path);
	struct dirent *dirent;
	struct cosy_dir *dir;
	size_t count = 0;
	ssize_t n;

	errno = ERANGE;
	CHECK(expected);
	EQUAL(cosy_dir_open(&dir, AT_FDCWD, path, flags), 0);
	while ((n = cosy_dir_read(dir, &entries)) > 0) {
		EQUAL(errno, ERANGE);
		count += n;
		for (ssize_t i = 0; i < n; i++) {
			struct stat status;

			do {
				dirent = readdir(expected);
				CHECK(dirent);
			} while (!strcmp(dirent->d_name, ".") || !strcmp(dirent->d_name, ".."));
			EQUAL_TEXT(entries[i].name, dirent->d_name);
			CHECK(entries[i].inode == dirent->d_ino);
			EQUAL(fstatat(dirfd(expected), dirent->d_name, &status, AT_SYMLINK_NOFOLLOW),
			      0);
			EQUAL(entries[i].type, IFTODT(status.st_mode));
			if (flags & COSY_DIR_STATUS)
				CHECK(entries[i].result == 0 &&
				      !memcmp(&entries[i].status, &status, sizeof(status)));
			else
				EQUAL(entries[i].result, -ENODATA);
			errno = ERANGE;
		}
	}
	EQUAL(n, 0);
	EQUAL(cosy_dir_read(dir, &entries), 0);
	cosy_dir_close(dir);
	while ((dirent = readdir(expected)))
		CHECK(!strcmp(dirent->d_name, ".") || !strcmp(dirent->d_name, ".."));
	closedir(expected);
	return count;
}

/* CHECK: kinds: 12, 12
 * CHECK-NEXT: empty: 0, 0
 * CHECK-NEXT: many: 10000, 10000
 * CHECK-NEXT: proc: ok
 */
static void contents(void)
{
	char name[256], path[300];

	EQUAL(mkdir("kinds", 0755), 0);
	EQUAL(mkdir("empty", 0755), 0);
	EQUAL(mkdir("many", 0755), 0);
	EQUAL(chdir("kinds"), 0);
	memset(name, 'n', 255);
	name[255] = '\0';
	make_text(name, "long");
	make_text(".hidden", "text");
	make_text("...", "text");
	make_text("..a", "text");
	make_text("a", "text");
	EQUAL(mkdir("directory", 0700), 0);
	EQUAL(mkfifo("fifo", 0600), 0);
	EQUAL(symlink("a", "link"), 0);
	EQUAL(symlink("nowhere", "dangling"), 0);
	EQUAL(mknod("null", S_IFCHR | 0600, 0x103), 0);
	EQUAL(mknod("block", S_IFBLK | 0600, 0x103), 0);
	EQUAL(mknod("socket", S_IFSOCK | 0600, 0), 0);
	EQUAL(chdir(".."), 0);
	printf("kinds: %zu, %zu\n", compare("kinds", COSY_DIR_STATUS), compare("kinds", 0));
	printf("empty: %zu, %zu\n", compare("empty", COSY_DIR_STATUS), compare("empty", 0));
	for (int i = 0; i < MANY; i++) {
		/* Names of all lengths. */
		snprintf(path, sizeof(path), "many/%0*d", 5 + i % 251, i);
		EQUAL(mknod(path, S_IFREG | 0600, 0), 0);
	}
	printf("many: %zu, %zu\n", compare("many", COSY_DIR_STATUS), compare("many", 0));
	printf("proc: %s\n", compare("/proc/sys/kernel", COSY_DIR_STATUS) > 50 ? "ok" : "?");
}

/* The entries that are left of an open directory. It is at its beginning afterwards. */
static size_t list_open(int fd, bool to_the_end)
{
	const struct cosy_dir_entry *entries;
	struct cosy_dir *dir;
	size_t count = 0;
	ssize_t n;

	EQUAL(cosy_dir_open(&dir, fd, "", COSY_DIR_EMPTY_PATH), 0);
	n = cosy_dir_read(dir, &entries);
	while (n > 0) {
		count += n;
		if (!to_the_end)
			break;
		n = cosy_dir_read(dir, &entries);
	}
	cosy_dir_close(dir);
	EQUAL(lseek(fd, 0, SEEK_CUR), 0);
	return count;
}

/* CHECK-NEXT: open: 10000, again: 10000
 * CHECK-NEXT: open, a part: ok
 * CHECK-NEXT: open, read before: ok
 * CHECK-NEXT: closed meanwhile: 10000
 */
static void open_directory(void)
{
	const struct cosy_dir_entry *entries;
	static char records[1 << 14];
	int fd = open("many", O_RDONLY);
	struct cosy_dir *dir;
	size_t count = 0;
	ssize_t n;

	printf("open: %zu, ", list_open(fd, true));
	printf("again: %zu\n", list_open(fd, true));
	count = list_open(fd, false);
	printf("open, a part: %s\n", count > 0 && count < MANY ? "ok" : "?");
	CHECK(getdents64(fd, records, sizeof(records)) > 0);
	count = list_open(fd, true);
	printf("open, read before: %s\n", count > 0 && count < MANY ? "ok" : "?");
	EQUAL(cosy_dir_open(&dir, fd, "", COSY_DIR_EMPTY_PATH | COSY_DIR_STATUS), 0);
	EQUAL(close(fd), 0);
	for (count = 0; (n = cosy_dir_read(dir, &entries)) > 0; count += n)
		EQUAL(entries[0].result, 0);
	printf("closed meanwhile: %zu\n", count);
	cosy_dir_close(dir);
}

static void open_one(const char *text, int dirfd, const char *path, int flags)
{
	const int before = open_descriptors();
	struct cosy_dir *dir = (void *)8;
	int error = cosy_dir_open(&dir, dirfd, path, flags);

	printf("%s: %s\n", text, name_of_error(error));
	CHECK(error ? !dir : dir != NULL);
	cosy_dir_close(dir);
	EQUAL(open_descriptors(), before);
}

/* CHECK-NEXT: missing: ENOENT
 * CHECK-NEXT: file: ENOTDIR
 * CHECK-NEXT: link: ok
 * CHECK-NEXT: link, not followed: ENOTDIR
 * CHECK-NEXT: many, closed early: ok
 * CHECK-NEXT: fifo: ENOTDIR
 * CHECK-NEXT: flags: EINVAL
 * CHECK-NEXT: no descriptor: EBADF
 * CHECK-NEXT: relative: ok
 * CHECK-NEXT: bad address: EFAULT
 * CHECK-NEXT: no address: EFAULT
 * CHECK-NEXT: empty path: ENOENT
 * CHECK-NEXT: empty path, not an open directory: EBADF
 * CHECK-NEXT: empty path, the working directory: EBADF
 * CHECK-NEXT: empty path, a file: ENOTDIR
 * CHECK-NEXT: empty path, O_PATH: EBADF
 * CHECK-NEXT: a path with COSY_DIR_EMPTY_PATH: ok
 * CHECK-NEXT: full table: EMFILE
 * CHECK-NEXT: full table, empty path: EMFILE
 * CHECK-NEXT: not readable: EACCES
 */
static void errors(void)
{
	int dirfd = open(".", O_RDONLY), file = open("kinds/a", O_RDONLY);
	int path_only = open(".", O_PATH);
	struct rlimit limit, none;

	open_one("missing", AT_FDCWD, "missing", 0);
	open_one("file", AT_FDCWD, "kinds/a", 0);
	EQUAL(symlink("kinds", "link"), 0);
	open_one("link", AT_FDCWD, "link", 0);
	open_one("link, not followed", AT_FDCWD, "link", COSY_DIR_NOFOLLOW);
	open_one("many, closed early", AT_FDCWD, "many", COSY_DIR_STATUS);
	open_one("fifo", AT_FDCWD, "kinds/fifo", 0);
	open_one("flags", AT_FDCWD, "kinds", 8);
	open_one("no descriptor", -1, "kinds", 0);
	open_one("relative", dirfd, "kinds", 0);
	open_one("bad address", AT_FDCWD, (char *)8, 0);
	open_one("no address", AT_FDCWD, NULL, 0);
	open_one("empty path", dirfd, "", 0);
	open_one("empty path, not an open directory", -1, "", COSY_DIR_EMPTY_PATH);
	open_one("empty path, the working directory", AT_FDCWD, "", COSY_DIR_EMPTY_PATH);
	open_one("empty path, a file", file, "", COSY_DIR_EMPTY_PATH);
	open_one("empty path, O_PATH", path_only, "", COSY_DIR_EMPTY_PATH);
	open_one("a path with COSY_DIR_EMPTY_PATH", dirfd, "kinds", COSY_DIR_EMPTY_PATH);
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 3;
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	open_one("full table", AT_FDCWD, "kinds", 0);
	open_one("full table, empty path", dirfd, "", COSY_DIR_EMPTY_PATH);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EQUAL(chmod("kinds", 0111), 0);
	EQUAL(seteuid(65534), 0);
	open_one("not readable", AT_FDCWD, "kinds", 0);
	EQUAL(seteuid(0), 0);
	close(path_only);
	close(file);
	close(dirfd);
}

/* Readable, but not searchable: names and types, but no status.
 * CHECK-NEXT: not searchable, open: 12
 * CHECK-NEXT: not searchable: 12 of 12 EACCES with a type
 */
static void not_searchable(void)
{
	const struct cosy_dir_entry *entries;
	struct cosy_dir *dir;
	ssize_t n;
	int right = 0, fd;

	EQUAL(chmod("kinds", 0444), 0);
	EQUAL(seteuid(65534), 0);
	fd = open("kinds", O_RDONLY);
	printf("not searchable, open: %zu\n", list_open(fd, true));
	close(fd);
	EQUAL(cosy_dir_open(&dir, AT_FDCWD, "kinds", COSY_DIR_STATUS), 0);
	n = cosy_dir_read(dir, &entries);
	for (ssize_t i = 0; i < n; i++)
		right += entries[i].result == -EACCES && entries[i].type != DT_UNKNOWN;
	printf("not searchable: %d of %zd EACCES with a type\n", right, n);
	cosy_dir_close(dir);
	EQUAL(seteuid(0), 0);
	EQUAL(chmod("kinds", 0755), 0);
}

// CHECK-NEXT: removed: 0
static void removed(void)
{
	const struct cosy_dir_entry *entries;
	struct cosy_dir *dir;
	size_t before = 0;
	ssize_t n;

	EQUAL(cosy_dir_open(&dir, AT_FDCWD, "many", COSY_DIR_STATUS), 0);
	CHECK((n = cosy_dir_read(dir, &entries)) > 0);
	before = n;
	EQUAL(system("rm -rf many"), 0);
	n = cosy_dir_read(dir, &entries);
	CHECK(before < MANY);
	printf("removed: %zd\n", n);
	cosy_dir_close(dir);
}

static volatile bool stop;

static void *change(void *unused)
{
	char path[30];

	for (unsigned int i = 0; !stop; i++) {
		snprintf(path, sizeof(path), "changing/new%u", i % 100);
		if (mknod(path, S_IFREG | 0600, 0))
			unlink(path);
	}
	return unused;
}

/* What stays is listed exactly once, whatever others do meanwhile; what is gone when its status is
 * asked for says ENOENT.
 * CHECK-NEXT: changing: ok
 */
static void changing(void)
{
	const struct cosy_dir_entry *entries;
	static unsigned char seen[1000];
	struct cosy_dir *dir;
	pthread_t thread;
	char path[30];
	ssize_t n;

	EQUAL(mkdir("changing", 0755), 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "changing/%d", i);
		EQUAL(mknod(path, S_IFREG | 0600, 0), 0);
	}
	EQUAL(pthread_create(&thread, NULL, change, NULL), 0);
	for (int round = 0; round < 20; round++) {
		memset(seen, 0, sizeof(seen));
		EQUAL(cosy_dir_open(&dir, AT_FDCWD, "changing", COSY_DIR_STATUS), 0);
		while ((n = cosy_dir_read(dir, &entries)) > 0) {
			for (ssize_t i = 0; i < n; i++) {
				if (entries[i].name[0] == 'n') {
					CHECK(entries[i].result == 0 || entries[i].result == -ENOENT);
					continue;
				}
				EQUAL(entries[i].result, 0);
				seen[atoi(entries[i].name)]++;
			}
		}
		EQUAL(n, 0);
		cosy_dir_close(dir);
		for (int i = 0; i < 1000; i++)
			EQUAL(seen[i], 1);
	}
	stop = true;
	EQUAL(pthread_join(thread, NULL), 0);
	puts("changing: ok");
}

int main(void)
{
	char scratch[32];

	enter_scratch(scratch);
	contents();
	open_directory();
	errors();
	not_searchable();
	removed();
	changing();
	leave_scratch(scratch);
	return 0;
}
