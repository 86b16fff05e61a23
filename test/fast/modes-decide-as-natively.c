// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * All modes of a directory, and of a file in it, allow and forbid the same in a region as natively: for their
 * owner, their group, others and root, and with access control lists that allow or forbid more than the mode.
 */
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -Wno-cosy-few-calls -D_GNU_SOURCE %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel %t | FileCheck %s
// CHECK: directories: 15360 of 24576 allowed, 0 differ
// CHECK-NEXT: files: 15360 of 24576 allowed, 0 differ
#include <cosy.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define USER  1000
#define GROUP 2000
#define OTHER 3000

static const struct {
	uid_t uid;
	gid_t gid;
} processes[] = { { USER, OTHER }, { OTHER, GROUP }, { OTHER, OTHER }, { 0, 0 } };

/* None; one that allows the last but one process everything; one that forbids it everything. */
enum list { NONE, ALLOWS, FORBIDS, LISTS };

static void must(bool good, const char *what)
{
	if (!good)
		err(2, "%s", what);
}

static void set(const char *name, mode_t mode, enum list list)
{
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, permissions;
			uint32_t id;
		} entries[5];
	} acl = { 2,
		  { { 0x01, mode >> 6 & 7, -1u },
		    { 0x02, list == ALLOWS ? 7 : 0, OTHER },
		    { 0x04, mode >> 3 & 7, -1u },
		    { 0x10, 7, -1u },
		    { 0x20, mode & 7, -1u } } };

	removexattr(name, "system.posix_acl_access");
	must(!chmod(name, mode), "chmod");
	if (list != NONE)
		must(!setxattr(name, "system.posix_acl_access", &acl, sizeof(acl), 0), "setxattr");
}

/* Return 0 or the error of opening the file. */
static int open_natively(const char *name)
{
	const int fd = open(name, O_RDONLY);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int open_in_region(const char *name)
{
	int fd, error = 0;

	COSY_START;
	fd = open(name, O_RDONLY);
	if (fd < 0)
		error = errno;
	else
		close(fd);
	COSY_END;
	return error;
}

/* Try all modes of @name, which is the directory or the file. */
static void try_modes(const char *what, const char *name)
{
	unsigned int tried = 0, allowed = 0, differing = 0;

	for (mode_t mode = 0; mode <= 0777; mode++) {
		for (enum list list = NONE; list < LISTS; list++) {
			set(name, mode, list);
			for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
				setfsgid(processes[i].gid);
				setfsuid(processes[i].uid);
				/* First with what the kernel has not asked for yet, such as a list. */
				for (int first = 0; first < 2; first++, tried += 2) {
					const int fast = open_in_region("/dir/file");
					const int native = open_natively("dir/file");

					allowed += !fast + !native;
					differing += fast != native;
				}
				setfsuid(0);
				setfsgid(0);
			}
		}
	}
	printf("%s: %u of %u allowed, %u differ\n", what, allowed, tried, differing);
	set(name, 0755, NONE);
}

int main(void)
{
	char top[] = "/tmp/modes-XXXXXX";

	must(mkdtemp(top) && !mount("modes", top, "tmpfs", 0, "") && !chmod(top, 0755), top);
	must(!chroot(top) && !chdir("/") && !mkdir("dir", 0755), "dir");
	close(open("dir/file", O_WRONLY | O_CREAT, 0755));
	must(!chown("dir", USER, GROUP) && !chown("dir/file", USER, GROUP), "chown");
	must(!setgroups(0, NULL), "setgroups");
	try_modes("directories", "dir");
	try_modes("files", "dir/file");
	return 0;
}
