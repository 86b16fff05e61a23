// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cosy_unlink_many(): which names are removed, which are not, and why.
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
#include <cosy/batch.h>
#include <stdint.h>

#include "Inputs/scratch.h"

#define MANY 10000

static void look(int dirfd, const char *const *paths, size_t count, int flags)
{
	int results[20];
	ssize_t removed;

	errno = ERANGE;
	removed = cosy_unlink_many(dirfd, paths, count, flags, results);
	EQUAL(errno, ERANGE);
	for (size_t i = 0; i < count; i++) {
		printf("%.20s: %s\n", paths[i], name_of_error(results[i]));
		CHECK(results[i] != 0 || faccessat(dirfd, paths[i], F_OK, AT_SYMLINK_NOFOLLOW));
	}
	printf("%zd of %zu\n", removed, count);
}

/* Each item sees what those before it did.
 * CHECK:      one: ok
 * CHECK-NEXT: one: ENOENT
 * CHECK-NEXT: directory: EISDIR
 * CHECK-NEXT: link: ok
 * CHECK-NEXT: two/: ENOTDIR
 * CHECK-NEXT: two: ok
 * CHECK-NEXT: : ENOENT
 * CHECK-NEXT: nnnnnnnnnnnnnnnnnnnn: ENAMETOOLONG
 * CHECK-NEXT: locked/file: EACCES
 * CHECK-NEXT: 3 of 9
 * CHECK-NEXT: directory/below: ok
 * CHECK-NEXT: directory: ok
 * CHECK-NEXT: locked: ENOTEMPTY
 * CHECK-NEXT: three: ENOTDIR
 * CHECK-NEXT: .: EINVAL
 * CHECK-NEXT: 2 of 5
 * CHECK-NEXT: three: EBADF
 * CHECK-NEXT: 0 of 1
 */
static void errors(void)
{
	char name[257];
	const char *paths[] = { "one", "one", "directory", "link", "two/", "two", "", name,
				"locked/file" };

	memset(name, 'n', 256);
	name[256] = '\0';
	make_text("one", "");
	make_text("two", "");
	make_text("three", "");
	EQUAL(symlink("three", "link"), 0);
	EQUAL(mkdir("directory", 0755), 0);
	EQUAL(mkdir("directory/below", 0755), 0);
	EQUAL(mkdir("locked", 0755), 0);
	make_text("locked/file", "");
	EQUAL(chmod(".", 0777), 0);
	EQUAL(seteuid(65534), 0);
	look(AT_FDCWD, paths, 9, 0);
	EQUAL(seteuid(0), 0);
	look(AT_FDCWD, (const char *[]){ "directory/below", "directory", "locked", "three", "." },
	     5, AT_REMOVEDIR);
	look(-1, (const char *[]){ "three" }, 1, 0);
	EQUAL(access("three", F_OK), 0);
}

static void arguments(void)
{
	const char *paths[] = { "three" };
	int result = 77;

	EQUAL(cosy_unlink_many(AT_FDCWD, paths, 1, AT_SYMLINK_NOFOLLOW, &result), -EINVAL);
	EQUAL(cosy_unlink_many(AT_FDCWD, paths, SIZE_MAX, 0, &result), -EINVAL);
	EQUAL(cosy_unlink_many(AT_FDCWD, NULL, 0, 0, NULL), 0);
	EQUAL(result, 77);
	EQUAL(access("three", F_OK), 0);
}

// CHECK-NEXT: many: 9999, in the middle ENOENT
static void many(void)
{
	static const char *paths[MANY];
	static int results[MANY];
	ssize_t removed;
	int dir;

	EQUAL(mkdir("many", 0755), 0);
	dir = open("many", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < MANY; i++) {
		paths[i] = format("%d", i);
		if (i != MANY / 2)
			EQUAL(mknodat(dir, paths[i], S_IFREG | 0600, 0), 0);
	}
	removed = cosy_unlink_many(dir, paths, MANY, 0, results);
	printf("many: %zd, in the middle %s\n", removed, name_of_error(results[MANY / 2]));
	EQUAL(rmdir("many"), 0);
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
