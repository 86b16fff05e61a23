// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A descriptor from open() with O_PATH is good for fstat() and close(), also if a compound opens and closes it
 * itself. Everything else fails with EBADF, and flags that O_PATH overrides have no effect.
 */
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: %everywhere
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy.h>

#include "../Inputs/check.h"

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : argv[0];
	int fd, made, bad = 0;
	char byte = 0;
	struct stat st;

	for (int i = 0; i < 3; i++) {
		COSY_START;
		fd = open(name, O_PATH | O_CLOEXEC);
		bad += read(fd, &byte, 1) != -1 || errno != EBADF;
		bad += write(fd, &byte, 1) != -1 || errno != EBADF;
		bad += lseek(fd, 0, SEEK_SET) != -1 || errno != EBADF;
		bad += pread(fd, &byte, 1, 0) != -1 || errno != EBADF;
		bad += fstat(fd, &st) || !S_ISREG(st.st_mode);
		bad += close(fd);
		/* It is not created. */
		made = open("/nosuchfile", O_PATH | O_RDWR | O_CREAT | O_TRUNC, 0600);
		bad += made != -1 || errno != ENOENT;
		/* A file that is not a directory. */
		made = open(name, O_PATH | O_DIRECTORY);
		bad += made != -1 || errno != ENOTDIR;
		COSY_END;
		CHECK(fd >= 3);
		CHECK(!bad);
	}
	fd = open(name, O_PATH | O_RDWR | O_APPEND);
	CHECK(fcntl(fd, F_GETFL) == O_PATH);
	CHECK(!close(fd));
	return 0;
}
