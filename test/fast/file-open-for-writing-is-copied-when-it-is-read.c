// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region that copies a file, while another process changes it between the read and the write:
// what was read is written, as by plain calls.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Rpass=cosy %s -o %t 2>&1 \
// RUN:   | FileCheck --check-prefix=REMARK %s
// REMARK: remark: what is read is copied only to where it is written
// RUN: %vm %S/Inputs/ways --on ext4 --as root %S/Inputs/make-files %t | FileCheck %s
// CHECK: ext4, as root: 2 lines
#include <cosy.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 4096

static void must(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static ssize_t copy(int from, int to)
{
	static char buffer[SIZE];
	ssize_t n, written = -1;

	COSY_START;
	n = read(from, buffer, sizeof(buffer));
	if (n > 0)
		written = write(to, buffer, (size_t)n);
	COSY_END;
	return written;
}

/*
 * In another process: when the reader has advanced the position that both share, overwrite the
 * file, or make it shorter. The reader writes to a frozen file system, and waits until it is thawed.
 */
static void change(int from, int file, int frozen, bool shorten)
{
	char new[SIZE];

	memset(new, 'n', sizeof(new));
	while (lseek(from, 0, SEEK_CUR) != SIZE)
		usleep(100);
	if (shorten)
		must(!ftruncate(file, 1000), "ftruncate");
	else
		must(pwrite(file, new, sizeof(new), 0) == SIZE, "pwrite");
	must(!ioctl(frozen, FITHAW, 0), "FITHAW");
	exit(0);
}

int main(void)
{
	char name[] = "/tmp/changed-XXXXXX", old[SIZE], got[SIZE];
	int file = mkstemp(name), to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0600), status;

	must(file >= 0, name);
	must(to >= 0, "to");
	memset(old, 'o', sizeof(old));
	for (int shorten = 0; shorten < 2; shorten++) {
		int from = open(name, O_RDONLY);
		pid_t child;

		must(pwrite(file, old, sizeof(old), 0) == SIZE && from >= 0, "file");
		must(!lseek(to, 0, SEEK_SET) && !ioctl(to, FIFREEZE, 0), "FIFREEZE");
		child = fork();
		if (!child)
			change(from, file, to, shorten);
		/* Nothing may fail before the file system is thawed. */
		printf("%zd bytes ", copy(from, to));
		must(waitpid(child, &status, 0) == child && !status, "child");
		must(pread(to, got, sizeof(got), 0) == SIZE, "pread");
		printf("%s\n", memcmp(got, old, sizeof(old)) ? "CHANGED" : "as they were read");
		fflush(stdout);
		close(from);
	}
	return unlink(name);
}
