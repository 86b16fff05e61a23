// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookups of a directory's entries by name only: the same results as by path walks.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways %S/Inputs/make-entries %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct result {
	int ret, error;
	struct stat st;
};

/* The name and its result, by two consecutive operations. */
static void look(int dir, const char *name, int flags)
{
	struct result a = { .ret = 77 };
	struct result *r = &a;

	memset(&a.st, 0x55, sizeof(a.st));
	COSY_START;
	errno = 0;
	r->ret = fstatat(dir, name, &r->st, flags);
	r->error = errno;
	COSY_END;
	printf("%.40s flags %#x: %d %d", name, (unsigned int)flags, a.ret, a.error);
	if (a.ret == 0) {
		struct stat again;

		/* Values that must not be printed are compared. */
		if (fstatat(dir, name, &again, flags) || memcmp(&again, &a.st, sizeof(again)))
			printf(" CHANGED");
		printf(" mode %o nlink %lu size %ld uid %u gid %u rdev %lx", a.st.st_mode,
		       (unsigned long)a.st.st_nlink,
		       S_ISDIR(a.st.st_mode) ? 0 : (long)a.st.st_size, a.st.st_uid, a.st.st_gid,
		       (unsigned long)a.st.st_rdev);
	}
	putchar('\n');
}

/* statx() returns more: print it, and compare it with the native result. */
static void look_closer(int dir, const char *name, int flags, unsigned int mask)
{
	struct statx found, again;
	int ret, error, native;

	memset(&found, 0x55, sizeof(found));
	memset(&again, 0x55, sizeof(again));
	COSY_START;
	errno = 0;
	ret = statx(dir, name, flags, mask, &found);
	error = errno;
	COSY_END;
	errno = 0;
	native = statx(dir, name, flags, mask, &again);
	printf("%.40s statx %#x %#x: %d %d%s\n", name, (unsigned int)flags, mask, ret, error,
	       ret != native || error != errno || memcmp(&found, &again, sizeof(found)) ?
		       " CHANGED" : "");
}

static void look_everywhere(int dir, const char *name)
{
	static const struct {
		int flags;
		unsigned int mask;
	} asked[] = {
		{ 0, STATX_BASIC_STATS },
		{ AT_SYMLINK_NOFOLLOW, STATX_ALL | STATX_MNT_ID },
		/* The unique number of the mount, and all that is known up to Linux 7.3. */
		{ 0, 0x4000 },
		{ AT_SYMLINK_NOFOLLOW, 0x3ffff & ~0x4000 },
		{ AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_MODE },
		{ AT_STATX_DONT_SYNC, 0 },
		{ AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC, STATX_ALL },
		{ AT_NO_AUTOMOUNT, STATX__RESERVED },
		{ AT_NO_AUTOMOUNT, 0x40000000 },
		{ AT_EMPTY_PATH, STATX_SIZE },
		{ 0x8000, STATX_ALL },
	};
	static const int flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT,
				     AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, AT_EMPTY_PATH, 0x8000 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		look(dir, name, flags[i]);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		look_closer(dir, name, asked[i].flags, asked[i].mask);
}

/* The entries of a directory, and their statuses; sorted, because orders differ. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(int dir)
{
	static char buffer[1024];	/* small, for many calls */
	static char *names[1000];
	static struct stat st;
	unsigned long long sizes = 0;
	long n, at, count = 0, failed = 0;

	COSY_START;
	while ((n = getdents64(dir, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < n; at += ((struct dirent64 *)(buffer + at))->d_reclen) {
			if (fstatat(dir, ((struct dirent64 *)(buffer + at))->d_name, &st,
				    AT_SYMLINK_NOFOLLOW))
				failed++;
			else if (!S_ISDIR(st.st_mode))
				sizes += (unsigned long long)st.st_size;
			names[count++] = strdup(((struct dirent64 *)(buffer + at))->d_name);
		}
	}
	COSY_END;
	printf("listed: %ld, %ld %d, failed %ld, sizes %llu\n", count, n, n < 0 ? errno : 0, failed,
	       sizes);
	qsort(names, (size_t)count, sizeof(names[0]), by_name);
	for (long i = 0; i < count; i++) {
		look_everywhere(dir, names[i]);
		free(names[i]);
	}
}

static void fail(int dir)
{
	static const char *const names[] = {
		"", ".", "..", "missing", "there/", "./there", "directory/inside", "link/",
		"link-to-directory/", "link-to-directory/inside", "closed/inside", "mounted/on-the-mount",
		"/", "//", "/dev/null", "loop/x", "there/x", "..a", "...", "directory/../there",
	};
	char name[300], *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stat *at = (struct stat *)(page + 4096 - 64), good;
	struct statx more;
	int ret, error;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		look_everywhere(dir, names[i]);
	for (int length = 250; length < 260; length++) {
		memset(name, 'n', sizeof(name));
		name[length] = '\0';
		look(dir, name, 0);
	}
	/* Names that end at the end of memory. */
	mprotect(page + 4096, 4096, PROT_NONE);
	for (int length = 1; length < 40; length++) {
		char *end = page + 4096 - length;

		memcpy(end, "abcdefghijklmnopqrstuvwxyz0123456789____", (size_t)length);
		COSY_START;
		ret = fstatat(dir, end, &good, 0);
		error = errno;
		COSY_END;
		printf("name not ended, %d: %d %d\n", length, ret, ret ? error : 0);
		end[length - 1] = '\0';
		look(dir, end, 0);
	}
	/* A structure that ends there. */
	memset(page, 0x55, 4096);
	COSY_START;
	ret = fstatat(dir, "there", at, 0);
	error = errno;
	COSY_END;
	printf("half a structure: %d %d, %d of it\n", ret, error, ((char *)at)[0] != 0x55);
	for (int bad = 0; bad < 3; bad++) {
		const char *from = bad == 0 ? NULL : bad == 1 ? (char *)-4096 : "there";
		struct stat *to = bad == 2 ? (struct stat *)0xffff888000000000 : &good;

		COSY_START;
		ret = fstatat(dir, from, to, 0);
		error = errno;
		COSY_END;
		printf("bad address %d: %d %d\n", bad, ret, error);
		COSY_START;
		ret = statx(dir, from, 0, STATX_ALL, bad == 2 ? (void *)to : &more);
		error = errno;
		COSY_END;
		printf("bad address %d of statx: %d %d\n", bad, ret, error);
	}
}

int main(int argc, char **argv)
{
	static const char *const elsewhere[] = { "/proc/tty/driver", "/proc/self/attr",
						 "/proc/sys/net/unix",
						 "/sys/kernel/mm/transparent_hugepage" };
	int dir = open(argv[1], O_RDONLY | O_DIRECTORY), other;

	if (argc != 2 || dir < 0)
		return 1;
	list(dir);
	fail(dir);
	fail(AT_FDCWD);
	look(AT_FDCWD, "file3", AT_SYMLINK_NOFOLLOW);
	look(-1, "there", 0);
	look(12345, "there", 0);
	look(-1, "/dev/null", 0);
	other = open("file3", O_RDONLY);
	look(other, "there", 0);
	close(other);
	other = open(argv[1], O_PATH | O_DIRECTORY);
	look(other, "there", 0);
	close(other);
	look(open(argv[1], O_PATH | O_DIRECTORY), "directory/inside", 0);
	other = open("file3", O_PATH);
	look(other, "there", 0);
	close(other);
	other = open("closed", O_PATH | O_DIRECTORY);
	look(other, "inside", 0);
	close(other);
	other = open("directory", O_RDONLY | O_DIRECTORY);
	look(other, "inside", 0);
	/* A directory that becomes unsearchable, and is then removed. */
	if (chmod("directory", 0600) == 0) {
		look(other, "inside", 0);
		chmod("directory", 0700);
	}
	if ((unlink("directory/upper"), unlink("directory/inside")) == 0 && rmdir("directory") == 0)
		look(other, "inside", 0);
	close(other);
	other = open("/proc/self", O_RDONLY | O_DIRECTORY);
	look(other, "exe", AT_SYMLINK_NOFOLLOW);
	look(other, "status", 0);
	look(other, "cwd", 0);
	look(other, "fd", 0);
	close(other);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		other = open(elsewhere[i], O_RDONLY | O_DIRECTORY);
		list(other);
		close(other);
	}
	return 0;
}
