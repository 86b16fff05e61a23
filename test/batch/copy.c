// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cosy_copy_file(): contents, holes, permissions, overwritten files, and every error.
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
//
// RUN: %cc -O1 %S/../Inputs/answer-calls.c -o %t.answer
// RUN: %run-all --no-stats %t.answer write 9 0 %t full | FileCheck --check-prefix=FULL %s
#include <cosy/batch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "Inputs/scratch.h"

static char contents[3 << 20];

static bool is_same(const char *a, const char *b)
{
	char command[100];

	/* cmp compares the sizes of two files first. Those of /proc and /sys are not known. */
	snprintf(command, sizeof(command), "cmp -s %s %s || cat %s | cmp -s - %s", a, b, a, b);
	return system(command) == 0;
}

/* Copy and print the result, the number of bytes, and the destination's mode. */
static void copy(const char *from, const char *to, int flags)
{
	const int before = open_descriptors();
	struct stat status;
	off_t copied = 77;
	int error;

	errno = ERANGE;
	error = cosy_copy_file(AT_FDCWD, from, AT_FDCWD, to, flags, &copied);
	EQUAL(errno, ERANGE);
	printf("%s to %s: %s, %ld bytes", from, to, name_of_error(error), (long)copied);
	if (error == 0 && stat(to, &status) == 0)
		printf(", mode %o%s", status.st_mode & 07777, is_same(from, to) ? "" : ", DIFFERS");
	putchar('\n');
	EQUAL(open_descriptors(), before);
}

/* CHECK:      small to new: ok, 10 bytes, mode 755
 * CHECK-NEXT: empty to new-empty: ok, 0 bytes, mode 600
 * CHECK-NEXT: large to new-large: ok, 3145728 bytes, mode 644
 *
 * The set-user-ID bit is not copied:
 * CHECK-NEXT: set-id to new-set-id: ok, 1 bytes, mode 755
 *
 * A file that was there keeps its mode, and has nothing left:
 * CHECK-NEXT: small to new-large: ok, 10 bytes, mode 644
 * CHECK-NEXT: empty to new: ok, 0 bytes, mode 755
 * CHECK-NEXT: small to link: ok, 10 bytes, mode 755
 * CHECK-NEXT: small to dangling: ok, 10 bytes, mode 755
 * CHECK-NEXT: link to new-link: ok, 10 bytes, mode 755
 *
 * Of /proc, whose sizes are not known:
 * CHECK-NEXT: /proc/sys/kernel/ostype to ostype: ok, 6 bytes, mode 444
 *
 * Of /sys, whose sizes are those of a page:
 * CHECK-NEXT: /sys/kernel/fscaps to fscaps: ok, 2 bytes, mode 444
 */
static void copies(void)
{
	for (size_t i = 0; i < sizeof(contents); i++)
		contents[i] = (char)(i * 7 + i / 4096);
	make_text("small", "some bytes");
	make_file("large", contents, sizeof(contents));
	make_text("empty", "");
	make_text("set-id", "x");
	EQUAL(chmod("small", 0777), 0);
	EQUAL(chmod("empty", 0600), 0);
	EQUAL(chmod("set-id", 04755), 0);
	EQUAL(symlink("target", "link"), 0);
	EQUAL(symlink("nowhere", "dangling"), 0);
	copy("small", "new", 0);
	copy("empty", "new-empty", 0);
	copy("large", "new-large", 0);
	copy("set-id", "new-set-id", 0);
	copy("small", "new-large", 0);
	copy("empty", "new", 0);
	make_text("target", "much more than the ten bytes");
	EQUAL(chmod("target", 0755), 0);
	copy("small", "link", 0);
	copy("small", "dangling", 0);
	copy("link", "new-link", 0);
	copy("/proc/sys/kernel/ostype", "ostype", 0);
	copy("/sys/kernel/fscaps", "fscaps", 0);
}

/* CHECK-NEXT: missing to x: ENOENT, 0 bytes
 * CHECK-NEXT: small to missing/x: ENOENT, 0 bytes
 * CHECK-NEXT: directory to x: EISDIR, 0 bytes
 * CHECK-NEXT: fifo to x: EINVAL, 0 bytes
 * CHECK-NEXT: /dev/zero to x: EINVAL, 0 bytes
 * CHECK-NEXT: small to directory: EISDIR, 0 bytes
 * CHECK-NEXT: small to fifo: ENXIO, 0 bytes
 * CHECK-NEXT: small to /dev/null: EINVAL, 0 bytes
 * CHECK-NEXT: small to small: EINVAL, 0 bytes
 * CHECK-NEXT: small to same: EINVAL, 0 bytes
 * CHECK-NEXT: link to target: EINVAL, 0 bytes
 * CHECK-NEXT: small to new: EEXIST, 0 bytes
 * CHECK-NEXT: small to dangling-2: EEXIST, 0 bytes
 * CHECK-NEXT: link to x: ELOOP, 0 bytes
 * CHECK-NEXT: small to x: EINVAL, 0 bytes
 * CHECK-NEXT: secret to x: EACCES, 0 bytes
 * CHECK-NEXT: small to read-only: EACCES, 0 bytes
 * CHECK-NEXT: the sources are as they were
 * CHECK-NEXT: full table: EMFILE
 */
static void errors(void)
{
	struct rlimit limit, none;
	char bytes[20] = "";
	int fd;

	EQUAL(mkdir("directory", 0755), 0);
	EQUAL(mkfifo("fifo", 0666), 0);
	EQUAL(link("small", "same"), 0);
	EQUAL(symlink("nowhere-2", "dangling-2"), 0);
	make_text("secret", "hidden");
	make_text("read-only", "text");
	EQUAL(chmod("secret", 0), 0);
	EQUAL(chmod("read-only", 0444), 0);
	copy("missing", "x", 0);
	copy("small", "missing/x", 0);
	copy("directory", "x", 0);
	copy("fifo", "x", 0);
	copy("/dev/zero", "x", 0);
	copy("small", "directory", 0);
	copy("small", "fifo", 0);
	copy("small", "/dev/null", 0);
	copy("small", "small", 0);
	copy("small", "same", 0);
	copy("link", "target", 0);
	copy("small", "new", COSY_COPY_EXCLUSIVE);
	copy("small", "dangling-2", COSY_COPY_EXCLUSIVE);
	copy("link", "x", COSY_COPY_NOFOLLOW);
	copy("small", "x", 4);
	EQUAL(seteuid(65534), 0);
	copy("secret", "x", 0);
	copy("small", "read-only", 0);
	EQUAL(seteuid(0), 0);
	fd = open("small", O_RDONLY);
	EQUAL(read(fd, bytes, 20), 10);
	EQUAL_TEXT(bytes, "some bytes");
	close(fd);
	CHECK(access("x", F_OK) != 0 && access("nowhere-2", F_OK) != 0);
	puts("the sources are as they were");
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 4;
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	printf("full table: %s\n",
	       name_of_error(cosy_copy_file(AT_FDCWD, "small", AT_FDCWD, "x", 0, NULL)));
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void make_sparse(const char *name, off_t size, const off_t *at, size_t pieces)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	EQUAL(ftruncate(fd, size), 0);
	for (size_t i = 0; i < pieces; i++)
		EQUAL(pwrite(fd, contents, 10000, at[i]), 10000);
	close(fd);
}

static void copy_sparse(const char *from, const char *to)
{
	struct stat status, copy;

	EQUAL(cosy_copy_file(AT_FDCWD, from, AT_FDCWD, to, 0, NULL), 0);
	EQUAL(stat(from, &status), 0);
	EQUAL(stat(to, &copy), 0);
	printf("%s: %s, %ld bytes, %s\n", from, is_same(from, to) ? "same" : "DIFFERS",
	       (long)copy.st_size,
	       copy.st_blocks <= status.st_blocks ? "with its holes" : "WITHOUT its holes");
}

/* CHECK-NEXT: hole: same, 12000000 bytes, with its holes
 * CHECK-NEXT: begin: same, 10000000 bytes, with its holes
 * CHECK-NEXT: middle: same, 10000000 bytes, with its holes
 * CHECK-NEXT: end: same, 9010000 bytes, with its holes
 * CHECK-NEXT: hole: same, 12000000 bytes, with its holes
 */
static void holes(void)
{
	make_sparse("hole", 12000000, NULL, 0);
	make_sparse("begin", 10000000, (off_t[]){ 0 }, 1);
	make_sparse("middle", 10000000, (off_t[]){ 1000000, 3000000, 8000000 }, 3);
	make_sparse("end", 9010000, (off_t[]){ 9000000 }, 1);
	copy_sparse("hole", "hole-2");
	copy_sparse("begin", "begin-2");
	copy_sparse("middle", "middle-2");
	copy_sparse("end", "end-2");
	/* Overwrite another file. */
	copy_sparse("hole", "middle-2");
}

/* What was copied before a failure is told, and is there.
 * CHECK-NEXT: large to limited: EFBIG, 1000000 bytes
 * CHECK-NEXT: limited: 1000000 bytes, right
 */
static void partial(void)
{
	struct rlimit limit, small;
	struct stat status;
	char *map;
	int fd;

	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1000000;
	EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	copy("large", "limited", 0);
	EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fd = open("limited", O_RDONLY);
	EQUAL(fstat(fd, &status), 0);
	map = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	printf("limited: %ld bytes, %s\n", (long)status.st_size,
	       memcmp(map, contents, status.st_size) ? "WRONG" : "right");
	close(fd);
}

/* write() returns 0.
 * FULL: small to new: ENOSPC, 0 bytes
 */
static void full(void)
{
	EQUAL(mknod("small", S_IFREG | 0644, 0), 0);
	EQUAL(truncate("small", 10), 0);
	copy("small", "new", 0);
}

int main(int argc, char **argv)
{
	char scratch[32];

	(void)argv;
	enter_scratch(scratch);
	if (argc > 1) {
		full();
		leave_scratch(scratch);
		return 0;
	}
	copies();
	errors();
	holes();
	partial();
	leave_scratch(scratch);
	return 0;
}
