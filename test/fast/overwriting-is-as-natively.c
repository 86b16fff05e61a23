// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 // Writes over existing data of a file: the same counts, errors, positions, times, modes and contents
// as natively, whether the pages are cached, are holes, end in the middle of the write or get data
// from unmapped memory.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	4096
#define SIZE	(6 * PAGE + 100)

static char *buffer; /* 8 pages, and one that is not accessible */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Six and a half pages; the third and fourth are a hole. */
static int make(int flags)
{
	char page[PAGE];
	int fd = open("overwritten", O_RDWR | O_CREAT | O_TRUNC | flags, 0600);

	if (fd < 0)
		die("overwritten");
	for (int i = 0; i < 7; i++) {
		memset(page, 'a' + i, sizeof(page));
		if (i != 2 && i != 3 &&
		    pwrite(fd, page, i < 6 ? PAGE : 100, i * PAGE) < 0)
			die("pwrite");
	}
	return fd;
}

static void tell(int fd, const char *what, off_t at, size_t size, long n, int error)
{
	static char all[16 * PAGE];
	uint64_t hash = 1469598103934665603u;
	struct stat st;
	long len = pread(fd, all, sizeof(all), 0);

	for (long i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)all[i]) * 1099511628211u;
	if (fstat(fd, &st))
		die("fstat");
	printf("%s %jd+%zu: %ld (%s), at %jd, size %jd, mode %o, %s, %016" PRIx64 "\n", what,
	       (intmax_t)at, size, n, n < 0 ? strerror(error) : "", (intmax_t)lseek(fd, 0, SEEK_CUR),
	       (intmax_t)st.st_size, st.st_mode, st.st_mtime > 1000 ? "changed" : "unchanged", hash);
}

static void write_at(const char *what, int flags, const char *from, off_t at, size_t size)
{
	int fd = make(flags);
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	int error = 0;
	long n;

	if (fchmod(fd, 04711) || futimens(fd, old))
		die("fchmod, futimens");
	COSY_START;
	lseek(fd, at, SEEK_SET);
	n = write(fd, from, size);
	if (n < 0)
		error = errno;
	COSY_END;
	tell(fd, what, at, size, n, error);
	if (n >= 0) {
		COSY_START;
		n = pwrite(fd, from + 1, size - 1, at + 7);
		if (n < 0)
			error = errno;
		COSY_END;
		tell(fd, what, at + 7, size - 1, n, error);
	}
	close(fd);
}

int main(void)
{
	static const off_t places[] = { 0, 1, PAGE - 1, PAGE, 2 * PAGE - 5, 5 * PAGE, SIZE - 1, SIZE,
					SIZE + PAGE };
	static const size_t sizes[] = { 1, 2, 100, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 7 * PAGE };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit limit = { 2 * PAGE + 50, RLIM_INFINITY };

	buffer = mmap(NULL, 9 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED || mprotect(buffer + 8 * PAGE, PAGE, PROT_NONE))
		die("mmap");
	for (int i = 0; i < 8 * PAGE; i++)
		buffer[i] = i * 7 + i / 251;
	signal(SIGXFSZ, SIG_IGN);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			write_at("write", 0, buffer, places[i], sizes[k]);
			write_at("append", O_APPEND, buffer, places[i], sizes[k]);
			/* The data ends before the write does. */
			write_at("cut off", 0, buffer + 8 * PAGE - 60, places[i], sizes[k]);
			/* It has not been accessed yet. */
			madvise(buffer, 8 * PAGE, MADV_DONTNEED);
			write_at("untouched", 0, buffer, places[i], sizes[k]);
			memset(buffer, 'x', 8 * PAGE);
		}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = make(0), error = 0;
		long n;

		setrlimit(RLIMIT_FSIZE, &limit);
		COSY_START;
		n = pwrite(fd, buffer, sizes[i], PAGE + 17);
		if (n < 0)
			error = errno;
		COSY_END;
		setrlimit(RLIMIT_FSIZE, &none);
		tell(fd, "limited", PAGE + 17, sizes[i], n, error);
		close(fd);
	}
	return 0;
}
