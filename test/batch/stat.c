// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cosy_stat_many(): each item has the result of fstatat(), and every error belongs to its item.
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
#include <cosy/batch.h>

#include "Inputs/scratch.h"

#define MANY 10000

/* Print the result of each path, and compare it with fstatat(). */
static void look(int dirfd, const char *const *paths, size_t count, int flags)
{
	struct stat *status = malloc(count * sizeof(*status)), expected, unused;
	int *results = malloc(count * sizeof(*results));
	ssize_t taken, right = 0;

	memset(status, 0x55, count * sizeof(*status));
	memset(&unused, 0x55, sizeof(unused));
	errno = ERANGE;
	taken = cosy_stat_many(dirfd, paths, count, flags, status, results);
	EQUAL(errno, ERANGE);
	for (size_t i = 0; i < count; i++) {
		const char *path = i == 3 && count == 13 ? "(bad address)" : paths[i];

		printf("%.40s: %s\n", path, name_of_error(results[i]));
		if (fstatat(dirfd, paths[i], &expected, flags)) {
			EQUAL(results[i], -errno);
			EQUAL_BYTES(&status[i], &unused, sizeof(unused));
		} else {
			right++;
			EQUAL(results[i], 0);
			EQUAL_BYTES(&status[i], &expected, sizeof(expected));
		}
	}
	EQUAL(taken, right);
	printf("%zd of %zu\n", taken, count);
	free(status);
	free(results);
}

/* CHECK:      file: ok
 * CHECK-NEXT: missing: ENOENT
 * CHECK-NEXT: file/below: ENOTDIR
 * CHECK-NEXT: (bad address): EFAULT
 * CHECK-NEXT: link: ok
 * CHECK-NEXT: dangling: ENOENT
 * CHECK-NEXT: loop: ELOOP
 * CHECK-NEXT: : ENOENT
 * CHECK-NEXT: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: ok
 * CHECK-NEXT: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: ENAMETOOLONG
 * CHECK-NEXT: {{[./]+}}: ENAMETOOLONG
 * CHECK-NEXT: locked/file: EACCES
 * CHECK-NEXT: /: ok
 * CHECK-NEXT: 4 of 13
 *
 * Links themselves:
 * CHECK:      dangling: ok
 * CHECK-NEXT: loop: ok
 *
 * No directory: only absolute paths.
 * CHECK:      file: EBADF
 * CHECK-NEXT: /: ok
 * CHECK:      file: ENOTDIR
 * CHECK-NEXT: /: ok
 *
 * The directory itself:
 * CHECK:      : ok
 */
static void errors(void)
{
	char *name = malloc(257), *path = malloc(5000);
	const char *paths[] = { "file", "missing", "file/below", (char *)8, "link", "dangling",
				"loop", "", NULL, name, path, "locked/file", "/" };
	int fd, dir;

	memset(name, 'n', 256);
	name[256] = '\0';
	paths[8] = name + 1;
	for (int i = 0; i < 4998; i += 2)
		memcpy(path + i, "./", 2);
	strcpy(path + 4998, "f");
	make_text("file", "text");
	make_text(paths[8], "long");
	EQUAL(symlink("file", "link"), 0);
	EQUAL(symlink("nowhere", "dangling"), 0);
	EQUAL(symlink("loop", "loop"), 0);
	EQUAL(mkdir("locked", 0755), 0);
	make_text("locked/file", "");
	EQUAL(chmod("locked", 0), 0);
	/* Root may search any directory. */
	EQUAL(seteuid(65534), 0);
	look(AT_FDCWD, paths, 13, 0);
	EQUAL(seteuid(0), 0);
	look(AT_FDCWD, (const char *[]){ "dangling", "loop" }, 2, AT_SYMLINK_NOFOLLOW);
	look(-1, (const char *[]){ "file", "/" }, 2, 0);
	fd = open("file", O_RDONLY);
	look(fd, (const char *[]){ "file", "/" }, 2, 0);
	dir = open(".", O_RDONLY);
	look(dir, (const char *[]){ "", "file" }, 2, AT_EMPTY_PATH);
	close(fd);
	close(dir);
	free(name);
	free(path);
}

static void arguments(void)
{
	const char *paths[] = { "file" };
	struct stat status;
	int result = 77;

	EQUAL(cosy_stat_many(AT_FDCWD, paths, 1, AT_REMOVEDIR, &status, &result), -EINVAL);
	EQUAL(cosy_stat_many(AT_FDCWD, paths, SIZE_MAX, 0, &status, &result), -EINVAL);
	EQUAL(cosy_stat_many(AT_FDCWD, paths, SIZE_MAX / 144 + 2, 0, &status, &result), -EINVAL);
	EQUAL(cosy_stat_many(AT_FDCWD, NULL, 0, 0, NULL, NULL), 0);
	EQUAL(result, 77);
}

// CHECK: many: 9999, in the middle ENOENT
static void many(void)
{
	static const char *paths[MANY];
	static struct stat status[MANY];
	static int results[MANY];
	ssize_t taken;

	EQUAL(mkdir("many", 0755), 0);
	for (int i = 0; i < MANY; i++) {
		paths[i] = format("many/%d", i);
		if (i != MANY / 2)
			EQUAL(mknod(paths[i], S_IFREG | 0600 | (i & 5), 0), 0);
	}
	taken = cosy_stat_many(AT_FDCWD, paths, MANY, 0, status, results);
	for (int i = 0; i < MANY; i++)
		if (i != MANY / 2)
			CHECK(results[i] == 0 && status[i].st_mode == (S_IFREG | 0600 | (i & 5u)));
	printf("many: %zd, in the middle %s\n", taken, name_of_error(results[MANY / 2]));
}

int main(void)
{
	char scratch[32];

	enter_scratch(scratch);
	errors();
	arguments();
	many();
	leave_scratch(scratch);
	return 0;
}
